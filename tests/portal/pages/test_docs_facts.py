"""What the documentation says about knobs, models, states and streams is what the code says."""

import os
import runpy
from pathlib import Path

import pytest
from django.apps import apps
from django.db.models import Model

from aggregation.protocol.streams import Catalog, Column
from portal.environment import KNOBS
from portal.pages import docs, docs_states
from portal.states import Stateful
from tests.parts import ROOT
from tests.portal.pages.reading_docs import fences, tables

OURS = [model for model in apps.get_models() if model.__module__.startswith("portal.")]


def state_blocks(page: str) -> list[tuple[str, tuple[docs_states.Move, ...]]]:
    return [
        (block.info.removeprefix("states ").strip(), docs_states.moves(block.content))
        for block in fences(page, "states")
    ]


def test_every_knob_is_described_as_the_settings_read_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Read anew, as the demo does: other tests read them for production."""
    for name in [name for name in os.environ if name.startswith("MAYFLY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MAYFLY_DATA", str(tmp_path))
    runpy.run_path(str(ROOT / "portal" / "settings.py"))
    rows = [row for heading, rows in tables("settings") for row in rows]
    described = {name: (kind, default) for name, kind, default, _meaning in rows}
    read = {knob.name: (knob.kind, knob.default or "none") for knob in KNOBS.values()}
    assert described == read
    assert all(meaning.endswith(".") or "." in meaning for *_, meaning in rows)


def test_every_model_is_described_and_nothing_else() -> None:
    headings = docs.shelf().page("data-model").document.headings  # type: ignore[union-attr]
    described = [heading.text for heading in headings if heading.level == 3]
    assert sorted(described) == sorted(model.__name__ for model in OURS)


def test_every_field_that_is_described_exists() -> None:
    models = {model.__name__: model for model in OURS}
    for heading, rows in tables("data-model"):
        described = {name for names, _ in rows for name in names.split(", ")}
        assert described <= _fields(models[heading]), heading


def _fields(model: type[Model]) -> set[str]:
    return {field.name for field in model._meta.get_fields()}


@pytest.mark.parametrize("model", [m for m in OURS if issubclass(m, Stateful)])
def test_every_state_machine_is_the_code_s(model: type[Stateful]) -> None:
    machines = dict(state_blocks("data-model"))
    assert model.__name__ in machines, "The data model page has its states."
    for page in docs.shelf().pages:
        for entity, moves in state_blocks(page.slug):
            if entity == model.__name__:
                _assert_same(model, moves)


def _assert_same(model: type[Stateful], moves: tuple[docs_states.Move, ...]) -> None:
    allowed = {(str(a), str(b)) for a, after in model.MOVES.items() for b in after}
    assert {(m.before, m.after) for m in moves if m.before} == allowed
    begins = [move.after for move in moves if not move.before]
    assert begins == [str(model._meta.get_field("state").default)]


def test_no_page_has_states_of_something_unknown() -> None:
    known = {model.__name__ for model in OURS if issubclass(model, Stateful)}
    assert {e for page in docs.shelf().pages for e, _ in state_blocks(page.slug)} <= known


def test_the_streams_are_described_as_they_ship(catalog: Catalog) -> None:
    described = {heading: rows for heading, rows in tables("streams") if heading in catalog}
    assert set(described) == {stream.name for stream in catalog}
    for stream in catalog:
        own = [c for c in stream.columns if not c.stamped and c.queryable]
        assert [row[:3] for row in described[stream.name]] == [
            [c.name, c.type, c.unit] for c in own
        ]
        for column, row in zip(own, described[stream.name], strict=True):
            _assert_values(catalog, column, row[3])


def _assert_values(catalog: Catalog, column: Column, values: str) -> None:
    """Small sets of words are written out, in their order."""
    if column.domain and column.name not in ("region", "country", "rating"):
        assert values == ", ".join(str(v) for v in catalog.domain(column.domain))


def test_the_shared_columns_are_described(catalog: Catalog) -> None:
    rows = dict(tables("streams"))["Columns every stream has"]
    for stream in catalog:
        shared = [c for c in stream.columns if c.stamped or not c.queryable]
        assert [row[:2] for row in rows] == [[c.name, c.type] for c in shared]


def test_every_property_of_a_column_is_described() -> None:
    rows = dict(tables("streams"))["What a column declares"]
    assert {row[0] for row in rows} == set(Column.__struct_fields__) - {"name", "description"}
