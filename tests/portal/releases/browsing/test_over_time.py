"""A place over time: its number, or what that is the sum of where noise drowns it."""

from dataclasses import replace

import pytest
from django.test import Client

from portal.accounts.models import Person
from portal.releases import querying
from portal.releases.browsing import over_time as module
from portal.releases.browsing.over_time import OverTime
from portal.releases.browsing.placing import Subject, usual_metric
from portal.releases.browsing.tables import Tables
from portal.releases.models import Release
from portal.releases.reading import Number
from tests.portal.collection.collecting import someone
from tests.portal.releases.browsing.conftest import FIRST, LYON, MARSEILLE, SECOND
from tests.portal.releases.browsing.test_browsing_pages import words


@pytest.fixture
def lyon(released: list[Release]) -> OverTime:
    viewer: Person = someone("dora", "consumer")
    return OverTime(viewer, released[1], "num_trips", {"region": str(LYON)}, "Lyon", "activity")


@pytest.fixture
def no_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where noise drowns the sum over all activities."""
    one = Tables.one

    def drowned(self: Tables, metric: str, where: dict[str, str]):
        found = one(self, metric, where)
        if found is None or "activity" in where:
            return found
        number = Number(metric, None, None, None, None, None, ())
        return replace(found, number=number, suppressed="The noise is more than 10 %.")

    monkeypatch.setattr(Tables, "one", drowned)


def test_it_works(lyon: OverTime) -> None:
    assert list(lyon.lines) == ["Lyon"]
    assert [step.release.window.window for step in lyon.steps] == [FIRST, SECOND]
    assert lyon.steps[0].change is None
    assert lyon.steps[1].change is not None
    assert lyon.steps[1].change.is_clear


def test_where_the_sum_is_not_shown_its_largest_parts_have_lines(
    lyon: OverTime, no_sums: None
) -> None:
    assert lyon.is_apart
    assert list(lyon.lines) == ["flying", "subway", "train", "bus", "driving"]
    assert lyon.is_shown
    assert "flying" in lyon.figure


def test_a_part_keeps_its_colour_whichever_are_shown(
    lyon: OverTime, no_sums: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = lyon.windows[-1][1].domain("activity")
    assert all(lyon._colours[name] == domain.index(name) for name in lyon.lines)
    monkeypatch.setattr(module, "COLOURS", 8)
    assert not replace(lyon)._colours, "nine would not all have their own"


def test_parts_are_remembered_from_one_visit_to_the_next(
    lyon: OverTime, no_sums: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = lyon.lines
    monkeypatch.setattr(querying, "ask", None)
    assert replace(lyon).lines == lines


def test_sentences_on_parts_begin_with_the_largest_and_say_what_they_count(
    client: Client, released: list[Release], no_sums: None
) -> None:
    said = words(client.get(f"/places/{LYON}"))
    assert said.index("people in Lyon flew") < said.index("people in Lyon walked")
    assert "Each sentence counts" not in said, "they are by the only key there is"


def test_the_page_says_that_it_shows_parts(
    client: Client, released: list[Release], no_sums: None
) -> None:
    said = words(client.get(f"/places/{LYON}"))
    assert "Over time: distance, by activity" in said
    page = client.get(f"/places/{LYON}").content.decode()
    assert "map?metric=distance_km&amp;activity=flying&amp;within=FR" in page
    assert "noise drowns the sum" in said


def test_where_nothing_is_shown_the_page_says_what_to_choose(
    client: Client, released: list[Release]
) -> None:
    said = words(client.get(f"/places/{MARSEILLE}"))
    assert "It is not shown in any window" in said
    assert "Choose one activity above" in said


def test_the_first_metric_that_is_shown_is_the_usual_one(tables: Tables) -> None:
    lyon, marseille = (Subject.of_region(one) for one in (LYON, MARSEILLE))
    assert lyon
    assert marseille
    assert usual_metric(tables, lyon, {}) == "distance_km"
    assert usual_metric(tables, marseille, {}) == "distance_km"


def test_kilometres_that_are_not_shown_give_way_to_trips_that_are(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    lyon = Subject.of_region(LYON)
    assert lyon
    monkeypatch.setattr(Tables, "count", lambda self, keys, metric, where: metric == "num_trips")
    assert usual_metric(tables, lyon, {}) == "num_trips"
