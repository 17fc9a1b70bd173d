"""A ratio of two sums: divided where it is released, and never added up."""

import pytest
from django.http import QueryDict

from aggregation.errors import Problem
from portal.releases.browsing.answering import answer
from portal.releases.browsing.charting import chart_of
from portal.releases.browsing.choosing import View
from tests.portal.releases.browsing.with_ratio import AT, RATIO, released, streams, tables

__all__ = ["released", "streams", "tables"]

BY_REGION = f"metric={RATIO}&by=region"
BY_BOTH = f"{BY_REGION}&second=activity"


def view(query: str, tables) -> View:
    return View.parse(QueryDict(query), tables)


def test_it_works(tables):
    """The released mean of all trips, far below the sum of the means by activity."""
    chart = chart_of(view(BY_REGION, tables), tables)
    values = [lines[0].number.value for lines in chart.lines[:4]]
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
    added = [sum(line.number.value or 0.0 for line in lines) for lines in two.lines[:4]]
    assert added == sorted(added)
