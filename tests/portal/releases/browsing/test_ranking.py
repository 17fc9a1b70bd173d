"""Where something is done most: shares of what is done in the same place, and who is left out."""

import math
from dataclasses import replace

import pytest
from django.http import QueryDict
from django.test import Client

from aggregation.protocol.anonymization import Suppression
from portal.releases import querying
from portal.releases.browsing import charting
from portal.releases.browsing import ranking as module
from portal.releases.browsing.best import asked_chart
from portal.releases.browsing.charting import chart_of
from portal.releases.browsing.choosing import View
from portal.releases.browsing.leading import caveat
from portal.releases.browsing.measuring import share
from portal.releases.browsing.ranking import ranking
from portal.releases.browsing.tables import Tables, pick
from portal.releases.reasons import listed, rule_in_words, told, why_not
from tests.portal.releases.browsing.conftest import LYON, MARSEILLE, PARIS
from tests.portal.releases.browsing.test_browsing_pages import AT, words

CYCLING = "metric=distance_km&by=region&activity=cycling"
# Activities are in proportion to their rank, and cycling is the third of nine: 3 of 45.
SHARE = 100 * 3 / 45


def chart(query, tables):
    return chart_of(View.parse(QueryDict(query), tables), tables)


def found(tables, **more):
    where = {"activity": ["cycling"], **more}
    return ranking(tables, "distance_km", by="region", key="activity", where=where, count=10)


def test_a_share_is_of_all_that_is_done_in_the_same_place(tables):
    drawn = chart(f"{CYCLING}&measure=share", tables)
    assert drawn.title == "Share of cycling in distance by region"
    assert len(drawn.labels) == 4
    for (line,) in drawn.lines:
        assert abs(line.number.value - SHARE) < 3 * line.number.half_width


def test_it_is_what_fits_best_where_places_are_compared(tables):
    assert View.parse(QueryDict(CYCLING), tables).measure == "share"
    for query in ("by=region", "by=activity", f"by=activity&region={LYON}"):
        assert View.parse(QueryDict(query), tables).measure == "amount", query
    assert View.parse(QueryDict(f"{CYCLING}&measure=amount"), tables).measure == "amount"


def test_an_address_says_how_it_is_measured(tables):
    for measure in ("amount", "share", "person"):
        view = View.parse(QueryDict(f"{CYCLING}&measure={measure}"), tables)
        assert View.parse(QueryDict(view.query), tables) == view


def test_numbers_that_have_been_read_are_not_read_again(tables, monkeypatch):
    known = found(tables)
    where = {"activity": ["cycling"]}
    layout, rows = tables.rows(["region", "activity"], "distance_km", where=where)
    parts = {str(row.keys[0]): pick(layout, row, "distance_km") for row in rows}
    asked = {"by": "region", "key": "activity", "where": where, "count": 10}
    read: list[object] = []
    monkeypatch.setattr(
        Tables,
        "rows",
        lambda self, keys, *a, _rows=Tables.rows, **k: (
            read.append(list(keys)) or _rows(self, keys, *a, **k)
        ),
    )
    assert ranking(tables, "distance_km", **asked, parts=parts) == known
    assert read == [["region"]]
    assert ranking(tables, "distance_km", **asked, parts={str(PARIS): parts[str(PARIS)]}) == known


def test_the_largest_share_is_first_also_of_the_top(tables):
    all_of, two = chart(f"{CYCLING}&top=10", tables), chart(f"{CYCLING}&top=2", tables)
    values = [lines[0].number.value for lines in all_of.lines]
    assert values == sorted(values, reverse=True)
    assert two.labels == all_of.labels[:2]
    assert two.left_out == 2


def test_where_no_sum_is_shown_it_is_among_what_is_shown_in_all_places(tables, monkeypatch):
    monkeypatch.setattr(module, "_ENOUGH", math.inf)
    ranked = found(tables)
    assert ranked.among == tuple(tables.domain("activity"))
    assert ranked.count == 4
    for place in ranked.places:
        part, whole = (
            tables.one("distance_km", {"region": place, **held}).number
            for held in ({"activity": "cycling"}, {})
        )
        assert ranked.shares[place].value == pytest.approx(share(part, whole).value)


def test_all_rows_of_a_share_are_read_however_many_they_are(tables, monkeypatch):
    """Two thousand places of nine activities have more rows than a page reads unasked."""
    monkeypatch.setitem(Tables.rows.__kwdefaults__, "count", 3)
    of_all = found(tables)
    assert len(of_all.shares) == 4
    monkeypatch.setattr(module, "_ENOUGH", math.inf)
    for place, one in found(tables).shares.items():
        assert one.value == pytest.approx(of_all.shares[place].value)


def test_of_thousands_of_places_it_is_the_same(tables, monkeypatch):
    """Their ids are joined, and neither bound one by one nor remembered."""
    few = found(tables, region=[str(PARIS), str(LYON)])
    many = [str(PARIS), str(LYON), *map(str, range(15_000))]
    kept = querying.remembered.cache_info().currsize
    assert found(tables, region=many) == few
    assert querying.remembered.cache_info().currsize - kept <= 2
    monkeypatch.setattr(module, "_ENOUGH", math.inf)
    assert found(tables, region=many).places == few.places


def test_a_place_whose_whole_could_be_noise_has_no_rank(tables, monkeypatch):
    """The largest quotients are those of a whole near zero: they would be first, without a share.

    Half-widths are as in a table where rows are shown on account of another metric.
    """
    rows = module._Ranking._rows

    def noisy(self, keys, where):
        of_paris = f'CASE WHEN "region" = {PARIS} THEN 1e18 ELSE 0 END'
        return replace(rows(self, keys, where), beside=(of_paris, of_paris, "0", of_paris))

    monkeypatch.setattr(module._Ranking, "_rows", noisy)
    for enough in (0.5, math.inf):
        monkeypatch.setattr(module, "_ENOUGH", enough)
        ranked = found(tables)
        assert bool(ranked.among) is (enough > 1)
        assert ranked.count == len(ranked.places) == 3
        assert str(PARIS) not in ranked.places
    said = chart(CYCLING, tables).coverage
    assert said.startswith("3 of the 4 places with any number are ranked here.")
    assert said.endswith(
        ". Where there is a number but no share, noise drowns what it would be a share of."
    )


def test_every_place_that_has_a_rank_has_a_share(tables, monkeypatch):
    for enough in (0.5, math.inf):
        monkeypatch.setattr(module, "_ENOUGH", enough)
        assert all(one.value is not None for one in found(tables).shares.values())


def test_the_chart_names_what_it_is_among(tables, monkeypatch):
    monkeypatch.setattr(module, "_ENOUGH", math.inf)
    monkeypatch.setattr(module._Ranking, "_common", lambda _: ["cycling", "driving"])
    drawn = chart(CYCLING, tables)
    assert drawn.title == "Share of cycling in distance by region (among cycling and driving)"
    # Up to half of the places may show theirs.
    assert drawn.remark.startswith("In most of these places noise drowns the sum over every act")
    # Driving is the fifth of the activities.
    assert drawn.lines[0][0].number.value == pytest.approx(100 * 3 / 8, rel=0.02)


def test_other_keys_are_held_in_part_and_whole(tables):
    there = found(tables, region=[str(LYON)])
    assert there.places == (str(LYON),)
    assert there.shares[str(LYON)].value == pytest.approx(SHARE, rel=0.02)


def test_places_of_a_country_are_ranked_by_share(tables):
    assert [name[-2:] for name in chart(f"{CYCLING}&country=FR", tables).labels] == ["FR", "FR"]


def test_it_is_told_how_many_places_are_ranked_and_why_others_are_not(tables, client):
    drawn = chart(CYCLING, tables)
    assert drawn.coverage.startswith("All 4 places with any number are ranked here; others have")
    assert "more than about ± 25 % of their trips or distance" in drawn.coverage
    assert "a share of" not in drawn.coverage
    assert drawn.coverage in words(client.get(f"{AT}?{CYCLING}"))
    assert str(MARSEILLE) not in drawn.values
    assert chart("by=activity", tables).coverage == ""


def test_per_inhabitant_warns_and_offers_the_share(tables, client):
    warned = caveat(View.parse(QueryDict(f"{CYCLING}&measure=person"), tables), tables)
    assert warned.is_warning
    assert "places with more phones per inhabitant rank higher" in warned.sentence
    page = client.get(f"{AT}?{CYCLING}&measure=person").content.decode()
    before, _, after = page.partition("notice-warning")
    # Beside the heading, and before the chart.
    assert 'id="chart-title"' in before
    assert 'class="chart' in after
    assert "Rank by the share of cycling instead" in after
    assert chart(warned.query, tables).view.measure == "share"


def test_shares_need_no_warning(tables):
    assert caveat(View.parse(QueryDict(CYCLING), tables), tables) is None
    assert not caveat(View.parse(QueryDict("by=region"), tables), tables).is_warning


def test_a_chart_on_other_sites_warns_too(released):
    for path in ("embed", "chart.svg"):
        page = Client().get(f"{AT}/{path}?{CYCLING}&measure=person").content.decode()
        assert "phones per inhabitant rank higher" in page.replace("</text>", " "), path


def test_reasons_are_in_the_terms_of_the_intervals_beside_them(tables):
    assert told("The noise is more than 10 % of num_trips.") == (
        "Its noise alone would be more than about ± 25 % of its trips."
    )
    assert told("The noise is more than 5 % of the emissions.").endswith("± 12 % of its emissions.")
    assert told("Any other sentence.") == "Any other sentence."
    rule = tables.shown.config.suppression
    assert "at most 10 % of its value on average, which at 95 % is ± 25 to 30 %" in rule_in_words(
        rule
    )


def test_a_wide_rule_is_written_in_plain_digits():
    """A rule that lets much noise through is told without powers of ten."""
    wide = Suppression(max_relative_noise=0.5)
    assert "at 95 % is ± 120 to 150 %" in rule_in_words(wide)
    assert "more than about ± 120 % of their trips" in why_not(wide, ["num_trips"])
    assert "± 120 %" in told("The noise is more than 50 % of num_trips.")


@pytest.mark.parametrize(
    ("rule", "named"),
    [("all", "trips or km"), ("num_trips", "trips"), (("km",), "km"), ("distance_km", "value")],
)
def test_rows_are_not_shown_on_account_of_the_metrics_that_the_rule_names(rule, named):
    """One name is a whole name: km is no part of distance_km."""
    suppression = Suppression(max_relative_noise=0.1, metrics=rule)
    assert f"% of their {named}: too few" in why_not(suppression, ["num_trips", "km"])


def test_emissions_are_not_shown_on_account_of_themselves(tables):
    rule = Suppression(max_relative_noise=0.1, metrics="num_trips")
    assert "% of their emissions: too few" in why_not(rule, ["co2e_kg"])
    assert "% of their emissions: too few" in chart("metric=co2e_kg&by=region", tables).coverage


def test_the_noise_of_what_is_shown_is_no_wider_than_the_rule_says(tables):
    _, rows = tables.rows(["region", "activity"], "num_trips", shown_only=True)
    for row in rows:
        for number in row.numbers:
            assert number.noise <= 0.30 * number.value


def test_a_list_in_words():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"], "or") == "a, b or c"


def test_a_value_that_stands_alone_has_no_share(tables, monkeypatch):
    monkeypatch.setattr(module, "_ENOUGH", math.inf)
    monkeypatch.setattr(module._Ranking, "_common", lambda _: ["cycling"])
    assert chart(f"{CYCLING}&measure=share", tables).is_empty
    assert asked_chart(QueryDict(CYCLING), tables).view.measure == "amount"


def test_where_the_sum_of_all_rows_is_not_shown_shares_are_of_those_that_are(tables, monkeypatch):
    query = "metric=distance_km&by=activity&measure=share"
    of_all = chart(query, tables)
    monkeypatch.setattr(charting._Charting, "_whole", None)
    of_shown = chart(query, tables)
    assert "shares of the shown rows only" in of_shown.remark
    assert not of_all.remark
    # All nine are shown, so that both are the same.
    for (one,), (other,) in zip(of_all.lines, of_shown.lines, strict=True):
        assert other.number.value == pytest.approx(one.number.value)
        assert other.number.half_width <= one.number.half_width
