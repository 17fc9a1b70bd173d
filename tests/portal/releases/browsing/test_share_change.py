"""A share and that of the day before: of the same whole, with the interval of their difference."""

import re

import numpy as np
import pytest
from django.http import QueryDict

from portal.releases.browsing import charting, share_change
from portal.releases.browsing import ranking as module
from portal.releases.browsing.answering import answer
from portal.releases.browsing.change import Change
from portal.releases.browsing.measuring import share_beside
from portal.releases.browsing.share_change import compared, share_in
from portal.releases.reading import Number
from tests.portal.releases.browsing.conftest import LYON, MARSEILLE
from tests.portal.releases.browsing.test_browsing_pages import AT, words

CYCLING = "metric=distance_km&by=region&activity=cycling&measure=share"
OF = {"region": str(LYON)}
HELD = {**OF, "activity": "cycling"}
TRIALS = 4000


def number(value: float, half_width: float) -> Number:
    return Number("n", value, half_width, half_width, None, 0.0, ())


def said(query: str, tables, earlier) -> str:
    return answer(QueryDict(query), tables, earlier).leading.change


def test_a_ranking_of_shares_says_how_the_first_has_changed(tables, earlier, client):
    told = said(CYCLING, tables, earlier)
    # Every sum is twice that of the day before, so that no share has changed.
    assert "that is no clear difference from the day before (" in told
    assert "percentage points): any difference could be noise alone." in told
    assert told.endswith("A share also moves when there is more or less of everything else.")
    assert told in words(client.get(f"{AT}?{CYCLING}"))


def test_shares_of_one_whole_are_compared_too(tables, earlier):
    assert "percentage points" in said(
        "metric=distance_km&by=activity&measure=share", tables, earlier
    )


def test_the_share_of_a_country_is_compared_with_that_of_the_same_country(tables, earlier):
    """And not with that of the world."""
    of_country = said("metric=distance_km&by=region&country=DE&measure=share", tables, earlier)
    assert "that is no clear difference from the day before (" in of_country
    assert abs(float(re.search(r"\(([+−\d.]+) ±", of_country)[1].replace("−", "-"))) < 1


def test_a_share_of_what_is_shown_says_so_and_is_not_compared(tables, earlier, monkeypatch):
    """Also that of one row that was chosen."""
    monkeypatch.setattr(charting._Charting, "_whole", None)
    of_all = "metric=distance_km&by=activity&measure=share"
    for query in (of_all, f"{of_all}&activity=cycling"):
        found = answer(QueryDict(query), tables, earlier)
        told = "Shares of what is shown are not compared with the day before."
        assert found.leading.change == told
        assert found.chart.remark.startswith("The sum over all rows is not shown, so th")
    assert "so this is a share of the shown rows only" in found.chart.remark


def test_a_share_that_is_not_known_has_no_remark(tables, monkeypatch):
    monkeypatch.setattr(charting._Charting, "_whole", None)
    query = f"metric=distance_km&by=region&region={MARSEILLE}&measure=share"
    chart = answer(QueryDict(query), tables, None).chart
    assert chart.is_empty
    assert not chart.remark


def test_places_are_put_in_order_once_for_an_answer(tables, earlier, monkeypatch):
    asked, put = [], charting.ranking
    monkeypatch.setattr(
        charting, "ranking", lambda *given, **more: asked.append(given) or put(*given, **more)
    )
    assert said(CYCLING, tables, earlier)
    assert len(asked) == 1


def test_without_a_window_before_nothing_is_said(tables):
    assert said(CYCLING, tables, None) == ""


def test_both_shares_are_of_the_same_whole(tables, earlier, monkeypatch):
    """Driving is the fifth of the activities, and cycling the third."""
    monkeypatch.setattr(module, "_ENOUGH", np.inf)
    monkeypatch.setattr(module._Ranking, "_common", lambda _: ["cycling", "driving"])
    asked = []
    monkeypatch.setattr(
        share_change, "share_in", lambda *given: asked.append(given) or share_in(*given)
    )
    assert "percentage points" in said(CYCLING, tables, earlier)
    assert asked[0][-1] == ("cycling", "driving")
    found = share_in(earlier, "distance_km", HELD, OF, ("cycling", "driving"))
    assert found.value == pytest.approx(100 * 3 / 8, rel=0.02)
    of_all = share_in(earlier, "distance_km", HELD, OF, ())
    assert of_all.value == pytest.approx(100 * 3 / 45, rel=0.02)


def test_where_a_part_of_the_whole_was_not_shown_there_is_no_comparison(
    tables, earlier, monkeypatch
):
    monkeypatch.setattr(share_change, "_others", lambda *_: [])
    assert share_in(earlier, "distance_km", HELD, OF, ("cycling", "driving")) is None
    monkeypatch.setattr(share_change, "share_in", lambda *_: None)
    told = said(CYCLING, tables, earlier)
    assert told.startswith("The share for")
    assert told.endswith("is not known for the day before: there is no comparison.")


def test_a_clear_change_says_by_how_much():
    change = Change.between(number(10.0, 0.4), number(14.0, 0.3))
    assert compared(change, "the week before") == (
        "4.00 ± 0.50 percentage points more than the week before; "
        "the change is larger than the noise."
    )


@pytest.mark.parametrize(("part", "rest"), [(10.0, 100.0), (4.0, 12.0), (4.0, 4.0)])
def test_a_share_that_stays_the_same_is_seldom_called_changed(part, rest):
    """Of unchanged shares at most one in twenty may look changed. By chance alone more than 255 of
    4,000 would in one run of 30,000; with half of the width it is more in every case."""
    noise = np.random.default_rng(7)
    width = float(np.log(20))

    def drawn() -> Number:
        x, r = (value + noise.laplace() for value in (part, rest))
        return share_beside(number(x, width), number(r, width))

    changes = [Change.between(drawn(), drawn()) for _ in range(TRIALS)]
    known = [one for one in changes if one is not None]
    assert sum(one.is_clear for one in known) <= 255
    halves = sum(abs(one.difference) > one.half_width / 2 for one in known)
    assert halves > 255 * len(known) / TRIALS
