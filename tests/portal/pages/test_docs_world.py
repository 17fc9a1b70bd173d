"""What the documentation says about made-up worlds is what their code says."""

from collections.abc import Iterator

import msgspec

from devices_sim.fleet.reach import PAPER, modelled
from devices_sim.fleet.scenario import PARTS, Scenario, scenario_names
from tests.portal.pages.reading_docs import tables


def keys(struct: type[msgspec.Struct], path: str = "") -> Iterator[tuple[str, object]]:
    """Every key of a scenario, with its default if it is one value."""
    for field in msgspec.structs.fields(struct):
        if field.name in PARTS and not (path and field.name == "habits"):
            yield from keys(PARTS[field.name], f"{field.name}.")
        else:
            yield f"{path}{field.name}", field.default


def test_every_key_is_described_with_its_default() -> None:
    rows = dict(tables("made-up-world"))["Keys of a scenario"]
    assert [row[0] for row in rows] == [name for name, _ in keys(Scenario)]
    for row, (_, default) in zip(rows, keys(Scenario), strict=True):
        assert row[1] == str(default) or not isinstance(default, int | float)


def test_every_scenario_that_ships_is_described() -> None:
    rows = dict(tables("made-up-world"))["Scenarios that ship"]
    assert sorted(row[0] for row in rows) == scenario_names()


def test_reach_is_told_as_it_is_modelled() -> None:
    rows = dict(tables("made-up-world"))["Reach"]
    told = {(row[0], row[1], row[2]): row[3:5] for row in rows}
    for conditions, by_country in PAPER.items():
        for where, paper in by_country.items():
            for span in ("weekly", "daily"):
                model = modelled()[conditions][where]
                figures = [f"{100 * getattr(each, span):.1f} %" for each in (paper, model)]
                assert told.pop((conditions, where, span)) == figures
    assert not told
