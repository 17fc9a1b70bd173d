"""How many places are ranked, why others are not, and which choice would rank more."""

from django.http import QueryDict

from aggregation.protocol.anonymization import Suppression
from portal.releases.browsing import charting, covering
from portal.releases.browsing.charting import chart_of
from portal.releases.browsing.choosing import View
from portal.releases.browsing.covering import Covered
from portal.releases.reasons import why_not
from tests.portal.releases.browsing.test_browsing_pages import AT, words


def covered(query: str, tables, known: int) -> Covered:
    view = View.parse(QueryDict(query), tables)
    held = {key: [value] for key, value in view.where.items()}
    return Covered(view, tables, ["region", *held], held, known, None)


def test_a_sum_over_a_key_has_the_noise_of_each_and_is_told_so(tables):
    """Where one of its values has a number, it is not true that nobody took part."""
    said = covering.sentence(covered("metric=distance_km&by=region", tables, 0))
    start = "0 of the 4 places with any number are ranked here. The others are not, as the noise"
    assert said.startswith(f"{start} alone")
    assert "too few phones took part, or none. A sum over every activity has the noise of" in said


def test_of_one_country_all_places_are_counted_and_of_emissions_all_of_the_world(tables):
    view = View.parse(QueryDict("metric=distance_km&by=region&country=FR"), tables)
    assert chart_of(view, tables).coverage.startswith("2 of 3 places are ranked here.")
    said = covering.sentence(covered("metric=co2e_kg&by=region", tables, 0))
    assert said.startswith("0 of 5 places are ranked here.")


def test_where_no_key_is_summed_over_nothing_is_said_of_sums(tables):
    said = covering.sentence(covered("metric=distance_km&by=region&activity=cycling", tables, 0))
    assert said.endswith("% of their trips or distance: too few phones took part, or none.")


def test_the_choice_that_shows_more_is_offered(tables):
    found = covering.offer(covered("metric=distance_km&by=region", tables, 3))
    assert found.sentence.startswith("With activity: ")
    assert found.sentence.endswith(" alone, 4 have a number")
    view = View.parse(QueryDict(found.query), tables)
    assert (view.by, list(view.where)) == ("region", ["activity"])


def test_nothing_is_offered_that_shows_no_more(tables):
    assert covering.offer(covered("metric=distance_km&by=region", tables, 4)) is None
    for query in ("by=region", "by=activity", "metric=co2e_kg&by=region"):
        chart = chart_of(View.parse(QueryDict(query), tables), tables)
        assert covering.offer(chart.covered) is None, query


def test_for_shares_nothing_is_offered_as_a_number_is_not_yet_a_share(tables):
    assert covering.offer(covered("metric=distance_km&by=region&measure=amount", tables, 3))
    assert covering.offer(covered("metric=distance_km&by=region&measure=share", tables, 3)) is None


def test_emissions_of_0_are_no_choice(tables):
    assert covering.offer(covered("metric=co2e_kg&by=region", tables, 0)) is None


def test_the_offer_stands_beside_the_reason(client, tables, monkeypatch):
    monkeypatch.setattr(charting._Charting, "known", 1)
    said = words(client.get(f"{AT}?metric=distance_km&by=region"))
    assert "1 of the 4 places with any number are ranked here." in said
    assert "alone, 4 have a number ." in said


def test_keys_of_a_sum_are_listed():
    rule = Suppression(max_relative_noise=0.1)
    told = why_not(rule, ["num_trips"], summed=["activity", "direction"])
    assert "A sum over every activity and direction has the noise of each, so it takes" in told
