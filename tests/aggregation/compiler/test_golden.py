"""Golden outputs: the documents and the account of a few specs, byte for byte.

After a wanted change, write them anew with `WRITE_GOLDEN=1` and read the difference.
"""

import json
import os
from pathlib import Path

import pytest

from aggregation.compiler.report import compile_text
from tests.aggregation.compiler.corpus import Case, cases, catalog

FOLDER = Path(__file__).parents[2] / "golden" / "compiler"
CHOSEN = {
    "basics: the flagship task": "flagship",
    "nested: the mean per device": "nested-mean",
    "steps: a join with the phone's own total": "join",
    "keys: kinds of travellers": "case-key",
    "derived: a ratio with guards and a factor": "ratio",
    "surroundings: two streams joined by UNION ALL": "two-streams",
    "surroundings: rotated by direction": "rotated",
    "surroundings: eligibility by WHERE": "eligibility",
    "built_in_steps: norms of slices": "slice-norms",
    "built_in_steps: the scaled norm": "scaled-norm",
}
GOOD = {case.name: case for case in cases("good")}


@pytest.mark.parametrize(("name", "file"), CHOSEN.items())
def test_the_output_is_the_golden_one(name: str, file: str) -> None:
    path = FOLDER / f"{file}.json"
    text = _output(GOOD[name])
    if os.environ.get("WRITE_GOLDEN"):
        path.write_text(text)
    assert path.read_text() == text


@pytest.mark.parametrize("name", CHOSEN)
def test_nothing_an_analyst_wrote_as_prose_is_in_it(name: str) -> None:
    case = GOOD[name]
    document = {**case.document, "description": "A remark nobody should ship."}
    spoken = json.loads(_output(Case(name, document)))
    assert spoken == json.loads(_output(case))


def test_another_task_that_asks_the_same_has_a_client_task_of_its_own() -> None:
    """Phones answer a client task once a window: two tasks of one would starve each other."""
    plain = GOOD["basics: the flagship task"]
    other = Case("other", {**plain.document, "name": "another-name"})
    one, another = (json.loads(_output(case))["client_task"] for case in (plain, other))
    assert one.pop("task") != another.pop("task")
    assert one == another


def test_the_spelling_of_a_query_does_not_change_its_client_task() -> None:
    plain = GOOD["basics: the flagship task"]
    sql = plain.document["client_sql"].replace("region", "REGION").replace("FROM", "/* hi */ from")
    other = Case("other", {**plain.document, "client_sql": sql})
    assert json.loads(_output(other)) == json.loads(_output(plain))


def _output(case: Case) -> str:
    code, report = compile_text(json.dumps(case.document), catalog())
    assert code == 0, report["diagnostics"]
    return json.dumps(report, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
