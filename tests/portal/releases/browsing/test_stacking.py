"""Bars on top of each other: what stands beside them is what their sum is known to."""

import math

import pytest
from django.http import QueryDict

from portal.releases.browsing.charting import chart_of
from portal.releases.browsing.choosing import View
from portal.releases.browsing.measuring import added
from tests.portal.charts.drawn import of_class
from tests.portal.releases.browsing.conftest import LYON
from tests.portal.releases.browsing.with_ratio import released, streams, tables

__all__ = ["released", "streams", "tables"]


def chart(query: str, tables):
    return chart_of(View.parse(QueryDict(query), tables), tables)


def written(found) -> dict[str, str]:
    """What stands beside each bar."""
    values = [one.text for one in of_class(found.svg(), "chart-value")]
    return dict(zip(found.values, values, strict=True))


@pytest.mark.parametrize("metric", ["num_trips", "distance_km"])
@pytest.mark.parametrize("measure", ["amount", "person"])
def test_the_same_sum_has_the_same_interval_stacked_and_by_itself(tables, metric, measure):
    asked = f"metric={metric}&by=region&measure={measure}"
    alone = written(chart(asked, tables))
    stacked = written(chart(f"{asked}&second=activity&layout=stacked", tables))
    assert stacked.pop(str(LYON))
    assert stacked == {place: alone[place] for place in stacked}
    assert len(stacked) == 4


def test_what_clipping_moved_adds_up_where_a_part_is_not_shown(tables):
    """Lyon's runners are no part of the bar."""
    found = chart("metric=num_trips&by=region&second=activity&layout=stacked", tables)
    (lines,) = [ls for one, ls in zip(found.values, found.lines, strict=True) if one == str(LYON)]
    shown = [line.number for line in lines if line.number.value is not None]
    assert len(shown) == len(lines) - 1
    total = found.totals[str(LYON)]
    assert total == added(shown)
    assert total.half_width > 2 * math.hypot(*(one.half_width for one in shown))


def test_of_some_series_the_sum_is_theirs(tables, monkeypatch):
    """Where the others have no room in the chart, the released sum is of more than is drawn."""
    monkeypatch.setattr("portal.releases.browsing.charting._MOST_VALUES", 3)
    monkeypatch.setattr("portal.releases.browsing.charting._MOST_SERIES", 2)
    found = chart("metric=num_trips&by=region&second=activity&layout=stacked", tables)
    for value, lines in zip(found.values, found.lines, strict=True):
        assert found.totals[value] == added([line.number for line in lines])


def test_by_two_keys_those_come_first_who_do_most_per_inhabitant(tables):
    asked = "metric=distance_km&by=region&measure=person"
    one, two = (chart(query, tables) for query in (asked, f"{asked}&second=activity"))
    assert two.labels == one.labels
    assert one.labels != chart("metric=distance_km&by=region", tables).labels


def test_shares_and_ratios_have_no_sum(tables):
    for asked in ("metric=num_trips&measure=share", "metric=km_per_trip"):
        assert chart(f"{asked}&by=region&second=activity", tables).totals == {}
    assert chart("metric=num_trips&by=region", tables).totals == {}
