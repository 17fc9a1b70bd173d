"""The page about the device protocol says what the code does, number by number."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.mechanisms import build_for
from aggregation.ondevice.bounding import bound_one
from aggregation.protocol import sqlite_limits
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.device_facts import COLUMNS
from aggregation.protocol.messages import (
    MAX_REQUEST,
    MAX_WANTED,
    CheckIn,
    Code,
    Failure,
    Offers,
    read_answer,
    read_request,
)
from aggregation.protocol.ranks import Cells
from aggregation.protocol.sealing import MAX_SEALED, OVERHEAD, sealed_length
from aggregation.protocol.shipped import ACTIVITIES
from aggregation.protocol.update import MAX_LENGTH, MAX_WINDOWS, Shape, length
from aggregation.protocol.windows import Unit
from tests.golden.protocol.inputs import CATALOG, TASK
from tests.golden.protocol.vectors import VECTORS
from tests.golden.protocol.write import path_of
from tests.portal.pages.reading_docs import fences, parsed, tables, text

PAGE = "device-protocol"
EXECUTIONS = json.loads(path_of("executions").read_text())
Bound = Callable[..., dict[int, list[int]]]


def table(heading: str) -> list[list[str]]:
    return next(rows for under, rows in tables(PAGE) if under == heading)


@pytest.fixture(scope="module")
def typed_in() -> dict[str, Any]:
    """The page's own functions, as somebody would type them in: the step, then the bound."""
    names: dict[str, Any] = {}
    for fence in fences(PAGE, "python checked")[:2]:
        exec(fence.content, names)  # noqa: S102 - our own documentation
    return names


@pytest.fixture(scope="module")
def bound(typed_in: dict[str, Any]) -> Bound:
    found: Bound = typed_in["bound"]
    return found


@pytest.mark.parametrize("run", EXECUTIONS, ids=lambda run: run["name"])
def test_its_arithmetic_gives_the_golden_parts(bound: Bound, run: dict[str, Any]) -> None:
    if run["ranks"] is None:
        part: dict[int, list[int]] = {}
    else:
        encoded = dict(zip(run["ranks"], run["encoded"], strict=True))
        part = bound(encoded, max_rows=run["client_task"]["max_rows"], **_shares(run))
    values = [part[rank] for rank in sorted(part)]
    assert {"ranks": sorted(part), "values": values} == run["part"]


@pytest.mark.parametrize(
    "run", [run for run in EXECUTIONS if "query" in run], ids=lambda run: run["name"]
)
def test_its_step_makes_the_golden_cells(typed_in: dict[str, Any], run: dict[str, Any]) -> None:
    given = run["client_task"]["step"]
    by_activity = given["norms"]["by"] == ["activity"]
    slices = [str(a) for a in ACTIVITIES] if by_activity else ["all"]
    names = [slices[rank % 9 if by_activity else 0] for rank in run["query"]["ranks"]]
    rows = list(zip(names, run["query"]["metrics"], strict=True))
    assert typed_in["step"](given["norms"], rows, slices, given["metrics"]) == run["ranks"]
    assert run["metrics"] == [[1.0]] * len(run["ranks"])


def _shares(run: dict[str, Any]) -> dict[str, Any]:
    """How the page says a `budget_split` is shared: by activity, the second of two keys."""
    task = run["client_task"]
    if task["mechanism"]["kind"] != "budget_split":
        return {}
    activities = task["keys"][1]["count"]
    return {
        "shares": activities * len(task["metrics"]),
        "group": lambda rank, metric: (rank % activities, metric),
    }


@given(
    st.dictionaries(
        st.integers(0, 35),
        st.lists(st.floats(-1e4, 1e4) | st.just(0.0), min_size=3, max_size=3),
        max_size=8,
    )
)
def test_its_arithmetic_is_the_code_s(bound: Bound, rows: dict[int, list[float]]) -> None:
    """At most one unit apart, as the page allows, and never beyond the bound."""
    arithmetic = build_for(TASK.mechanism, Cells.of(TASK.keys, CATALOG.domain), TASK.metrics)
    ranks = np.array(sorted(rows), dtype=np.int64)
    values = np.array([rows[rank] for rank in sorted(rows)], dtype=np.float64).reshape(-1, 3)
    part = bound_one(arithmetic, ranks, values, max_rows=4)
    encoded = arithmetic.encode(ranks, values).tolist()
    said = bound(dict(zip(ranks.tolist(), encoded, strict=True)), max_rows=4)
    mine = dict(zip(part.ranks.tolist(), part.values.tolist(), strict=True))
    for rank in said.keys() | mine.keys():
        pairs = zip(said.get(rank, [0] * 3), mine.get(rank, [0] * 3), strict=True)
        assert all(abs(a - b) <= 1 for a, b in pairs)
    assert sum(abs(q) for row in said.values() for q in row) <= GRID


def test_every_field_of_a_client_task_is_described() -> None:
    assert [row[0] for row in table("The client task")] == list(ClientTask.__struct_fields__)


def test_every_fact_is_described() -> None:
    assert [row[0] for row in table("Eligibility")] == list(COLUMNS)


def test_every_code_of_an_error_is_described() -> None:
    assert {row[1] for row in table("Errors")} == set(Code)


def test_every_file_of_vectors_is_described() -> None:
    assert [row[0] for row in table("Golden vectors")] == [f"{name}.json" for name in VECTORS]


def test_the_sandbox_is_the_code_s() -> None:
    rows = dict(table("The sandbox"))
    names = re.findall(r"[a-z]+", rows["functions"])
    assert set(names) == sqlite_limits.ALLOWED_FUNCTIONS
    given = [f"{value:,}" for value in sqlite_limits.LIMITS.values()]
    said = [
        number
        for name, value in rows.items()
        if name[:2].isupper()
        for number in re.findall(r"[\d,]*\d", value) * (len(name.split()) if value == "0" else 1)
    ]
    assert sorted(said) == sorted(given)
    assert f"{sqlite_limits.MAX_STEPS:,} steps" in rows["stopped after"]
    assert f"{sqlite_limits.MAX_SECONDS:g} s" in rows["stopped after"]
    assert rows["memory"].startswith(f"{sqlite_limits.HEAP_BYTES >> 20} MiB")


def test_the_numbers_are_the_code_s() -> None:
    page = text(PAGE)
    for said in (
        f"1 to {MAX_WANTED} of them",
        f"at most {MAX_REQUEST:,} bytes",
        f"at most {MAX_WINDOWS} windows and at most {MAX_LENGTH:,} bytes",
        f"exactly {OVERHEAD} bytes longer than the update, so at most {MAX_SEALED:,}",
        f"K = 2²⁰ = {GRID:,}",
    ):
        assert said in page


@given(st.sampled_from(list(Unit)), st.integers(1, 300), st.integers(1, 8), st.integers(1, 16))
def test_the_layout_has_the_length_it_says(unit: Unit, rows: int, metrics: int, w: int) -> None:
    def array() -> int:
        return 1 if w <= 15 else 3

    def binary(size: int) -> int:
        return size + (2 if size <= 255 else 3)

    name = 14 if unit is Unit.HOUR else 11
    said = 1 + 8 + 1 + 8 + array() + w * name + 6 + array() + w * binary(4 * rows)
    said += 7 + array() + w * binary(8 * rows * metrics)
    shape = Shape(unit, rows, metrics)
    assert length(shape, w) == said
    assert sealed_length(shape, w) == said + 48


def test_the_examples_of_messages_are_messages() -> None:
    error, request, offers, *_ = [token.content.encode() for token in fences(PAGE, "json")]
    vectors = json.loads(path_of("messages").read_text())
    assert read_answer(Failure, error) == read_answer(Failure, vectors["error answer"].encode())
    assert read_request(CheckIn, request).population == "DE"
    assert read_answer(Offers, offers) == read_answer(Offers, vectors["check-in answer"].encode())
    whole = json.loads(vectors["assignments answer"])
    shortened = json.loads(fences(PAGE, "json")[-1].content)
    assert _keys(shortened) == _keys(whole)


def _keys(value: Any) -> Any:
    """The shape of a document: its keys, in their order."""
    if isinstance(value, dict):
        return [(key, _keys(inner)) for key, inner in value.items()]
    return [_keys(inner) for inner in value] if isinstance(value, list) else None


def test_every_long_number_in_it_is_a_golden_one() -> None:
    """So that no slip of the pen is left: parts of vectors, on one line or over several."""
    vectors = "".join(path_of(name).read_text() for name in VECTORS)
    page = "".join(token.content for token in parsed(PAGE) if token.type in ("fence", "inline"))
    domain = "d1464c23c19db62e4371f20038bcb5e1c0c446e8410c47ffc0d6a1a435f8e4d0"
    long = re.findall(r"\b[0-9a-f]{24,}\b", page)
    assert len(long) > 20
    assert [number for number in long if number not in vectors and number != domain] == []
    assert CATALOG.stream("trips").column("direction").domain == domain  # type: ignore[union-attr]
