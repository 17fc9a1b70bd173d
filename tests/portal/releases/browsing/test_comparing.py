"""Two sides, row by row: differences in numbers, and something to see before anything is chosen."""

import re

from django.test import Client

from portal.releases.browsing.comparing import Side, best_comparison, compare, places_to_compare
from portal.releases.models import Release
from tests.portal.releases.browsing.conftest import LYON, MARSEILLE, MUNICH
from tests.portal.releases.browsing.test_browsing_pages import TASK, words
from tests.portal.releases.browsing.test_odd_addresses import _make_internal

AT = f"/releases/compare?task={TASK}"


def sides(tables, earlier, **where):
    return Side("now", tables, where), Side("then", earlier, where)


def test_what_differs_is_told_in_numbers(tables, earlier):
    found = compare(
        *sides(tables, earlier), metric="num_trips", by="activity", values=tables.domain("activity")
    )
    assert re.match(
        r"Clearly different: \w+ \(\+[\d.,]+ ± [\d.,]+( million)? trips\), ", found.sentence
    )


def test_what_does_not_differ_is_told_in_numbers_too(tables):
    found = compare(
        *sides(tables, tables), metric="num_trips", by="activity", values=tables.domain("activity")
    )
    assert re.search(
        r"Nothing differs by more than the noise\. What comes nearest is \w+ \(0[.0]* ± ",
        found.sentence,
    )


def test_the_metric_with_most_to_show_comes_first(tables, earlier):
    made = best_comparison(
        *sides(tables, earlier), metrics=["num_trips", "distance_km"], by="activity"
    )
    assert (made.metric, made.known) == ("num_trips", 9)
    emitted = best_comparison(
        *sides(tables, earlier), metrics=["co2e_kg", "num_trips"], by="activity"
    )
    # Walking, running and cycling emit nothing, which is nothing to compare.
    assert emitted.metric == "num_trips"


def test_places_to_compare_are_those_shown_in_both(tables, earlier):
    found = places_to_compare(tables, earlier, metric="num_trips", by="activity")
    assert str(LYON) in found
    assert str(MARSEILLE) not in found
    assert places_to_compare(tables, earlier, metric="num_trips", by="region") == []


def test_without_a_choice_the_newest_two_windows_are_compared(client, released):
    said = words(client.get("/releases/compare"))
    assert "Trips: 2026-11-18 and 2026-11-17" in said
    assert "Clearly different" in said
    assert "Places with most to compare" in said


def test_of_one_window_two_places_are_compared(released):
    """Guests see one window only."""
    _make_internal(released[0])
    assert Release.objects.count() == 2
    said = words(Client().get("/releases/compare"))
    assert "There is one window so far, so this compares places in it" in said
    assert re.search(r"Trips: \w+, 2026-11-18 and \w+, 2026-11-18", said)


def test_where_sums_drown_a_place_is_chosen_that_does_not(client, released, monkeypatch):
    """As where most places are empty: nothing is shown of all of them together."""
    from portal.releases import views_compare

    def drowned(first, second, **more):
        found = best_comparison(first, second, **more)
        return found if first.where else type(found)(found.metric, "", found.by, found.sides, ())

    monkeypatch.setattr(views_compare, "best_comparison", drowned)
    said = words(client.get(AT))
    assert "Noise drowns the sums over all places together, so this compares" in said
    assert "which has most to show" in said
    assert "Clearly different" in said


def test_a_place_that_is_asked_for_stays(client, released):
    said = words(client.get(f"{AT}&place={MUNICH}"))
    assert "Munich, 2026-11-18 and Munich, 2026-11-17" in said
    assert "so this compares" not in said


def test_metrics_are_offered_in_plain_words(client, released):
    page = client.get(AT).content.decode()
    assert '<option value="distance_km">distance (km)</option>' in page
