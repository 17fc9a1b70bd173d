"""A ratio of two sums: divided where it is released, and never added up."""

import msgspec
import pytest
from django.http import QueryDict

from aggregation.errors import Problem
from portal.releases.browsing import covering
from portal.releases.browsing.answering import answer
from portal.releases.browsing.charting import chart_of
from portal.releases.browsing.choosing import View
from portal.releases.browsing.comparing import Side, compare
from portal.releases.browsing.headline import headline
from portal.releases.browsing.mapping import MapView, map_of
from portal.releases.browsing.places_shown import places_shown
from portal.releases.browsing.tables import Tables
from portal.releases.showing import Shown
from tests.portal.releases.browsing.conftest import LYON, MARSEILLE, PARIS
from tests.portal.releases.browsing.test_browsing_pages import words
from tests.portal.releases.browsing.with_ratio import AT, RATIO, released, streams, tables

__all__ = ["released", "streams", "tables"]

BY_REGION = f"metric={RATIO}&by=region"
BY_BOTH = f"{BY_REGION}&second=activity"
# Of Marseille, whose kilometres are shown.
WHY = "Its noise alone would be more than about ± 25 % of its trips, by which it is divided."


def view(query: str, tables) -> View:
    return View.parse(QueryDict(query), tables)


def test_it_works(tables):
    """The released mean of all trips, far below the sum of the means by activity."""
    chart = chart_of(view(BY_REGION, tables), tables)
    values = [lines[0].number.value for lines in chart.lines]
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(313.6, abs=0.1)
    assert chart.labels[0] == "Berlin, DE"


def test_ratios_are_not_stacked_and_that_is_told(client, tables):
    asked = f"{BY_BOTH}&layout=stacked"
    with pytest.raises(Problem, match="km_per_trip is a ratio, and its bars do not add up"):
        view(asked, tables)
    found = answer(QueryDict(asked), tables, None)
    assert found.chart.view == view(BY_BOTH, tables)
    assert str(found.problem).endswith("not stacked. The chart leaves it out.")
    assert client.get(f"{AT}/chart.svg?{asked}").status_code == 400


def test_one_bar_a_row_is_no_stack(tables):
    for query in (BY_REGION, f"{BY_BOTH}&activity=train"):
        assert view(f"{query}&layout=stacked", tables).layout == "stacked"
    assert view(f"{BY_BOTH}&layout=multiples", tables).layout == "multiples"
    assert view(f"{BY_BOTH}&layout=stacked".replace(RATIO, "distance_km"), tables)


def test_by_two_keys_places_are_in_the_order_of_their_own_ratio(tables):
    """Here the sums of means by activity would be in the opposite one."""
    one, two = (chart_of(view(query, tables), tables) for query in (BY_REGION, BY_BOTH))
    assert two.labels == one.labels
    added = [sum(line.number.value or 0.0 for line in lines) for lines in two.lines]
    assert added == sorted(added)


def test_a_ratio_that_is_not_shown_says_why_in_words_and_over_time(client, tables):
    said = headline(RATIO, tables, None, where={"region": str(MARSEILLE)}, place="Marseille")
    assert said.sentence.endswith(f"of people in Marseille is not shown. {WHY}")
    page = words(client.get(f"/places/{MARSEILLE}?metric={RATIO}"))
    assert f"2026-11-18 not shown {WHY}" in page.partition("Over time")[2]


def test_a_chart_says_so_too(tables):
    found = chart_of(view(f"{BY_REGION}&region=Marseille", tables), tables)
    assert found.lines[0][0].suppressed == WHY
    assert found.hidden.reasons == ((WHY[:-1], ("Marseille, FR",)),)
    assert "not known" not in found.svg()
    parts = chart_of(view(f"metric={RATIO}&by=activity&region=Marseille", tables), tables)
    assert {lines[0].suppressed for lines in parts.lines} == {WHY}


def test_a_row_that_is_not_shown_keeps_its_own_reason(tables):
    found = tables.one(RATIO, {"region": str(LYON), "activity": "running"})
    assert found.suppressed == "Its noise alone would be more than about ± 25 % of its distance."


def test_a_map_says_so_and_counts_it_among_those_not_shown(tables):
    found = map_of(MapView(RATIO, within="FR"), tables, None)
    assert [(why, [spot.name for spot in spots]) for why, spots in found.hidden] == [
        (WHY, ["Marseille"])
    ]
    assert found.shown_count == 2
    assert str(MARSEILLE) not in [spot.id for spot in map_of(MapView(RATIO), tables, None).places]


def test_so_does_a_comparison(tables):
    here, there = (Side("", tables, {"region": str(one)}) for one in (MARSEILLE, PARIS))
    found = compare(here, there, metric=RATIO, by="activity", values=["train"])
    assert found.rows[0].reasons == (WHY, "")


def test_notes_of_numbers_that_are_shown_are_no_reasons(tables):
    """Emissions tell where their factors come from."""
    found = tables.one("co2e_kg", {"region": str(PARIS)})
    assert found.number.notes
    assert found.suppressed == ""


def test_rows_with_the_ratio_are_counted_and_not_rows_that_are_shown(tables):
    assert (tables.count(["region"], "distance_km"), tables.count(["region"], RATIO)) == (5, 4)
    by_both = ["region", "activity"]
    assert str(MARSEILLE) in tables.shown_by(by_both, "distance_km", "region")
    assert str(MARSEILLE) not in tables.shown_by(by_both, RATIO, "region")
    counts = dict(tables.counts(by_both, RATIO, of="activity", where={}))
    assert (counts["running"], counts["train"]) == (3, 4)


def test_a_ranking_counts_and_draws_places_that_have_it(tables):
    found = chart_of(view(BY_REGION, tables), tables)
    assert (found.covered.known, len(found.labels), found.left_out) == (4, 4, 0)
    assert found.coverage.startswith("4 of the 5 places with any number are ranked here.")
    assert chart_of(view(f"{BY_REGION}&top=3", tables), tables).left_out == 1


def test_what_it_is_divided_by_is_named_among_what_decides(tables):
    """The task asks for kilometres only."""
    asked = answer(QueryDict(BY_REGION), tables, None)
    assert "at most 10 % of its trips and distance each, which" in asked.rule
    assert "of their trips or distance: too few phones" in covering.sentence(asked.chart.covered)
    sums = answer(QueryDict("metric=distance_km&by=region"), tables, None)
    assert "at most 10 % of its distance, which" in sums.rule


def test_its_interval_is_of_a_ratio(client, tables):
    said = headline(RATIO, tables, None)
    assert said.sure.startswith("95 times in 100 the true ratio lies between 211 and 233")
    assert "the true sum" in headline("distance_km", tables, None).sure
    assert "95 times in 100 the true number lies inside" in words(client.get(f"{AT}?{BY_REGION}"))


def test_where_only_the_ratio_is_published_a_place_without_it_has_no_number(released):
    shown = Shown(released[0])
    vars(shown)["config"] = msgspec.structs.replace(shown.config, publish_columns=(RATIO,))
    assert places_shown(Tables(shown)).count == 4
    assert places_shown(Tables(Shown(released[0]))).count == 5
