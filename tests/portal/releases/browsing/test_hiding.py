"""What noise would drown is told in one line, and not drawn row by row."""

from dataclasses import replace

from portal.releases.browsing import charting, comparing
from portal.releases.browsing.charting import chart_of
from portal.releases.browsing.choosing import View
from portal.releases.browsing.comparing import Side, compare
from portal.releases.browsing.hiding import Hidden
from portal.releases.browsing.measuring import without
from tests.portal.releases.browsing.conftest import LYON, MARSEILLE
from tests.portal.releases.browsing.test_browsing_pages import TASK, words


def test_names_stand_with_the_reason_they_share():
    found = Hidden.of([("bus", "Too few."), ("train", "Too few."), ("flying", "not known")])
    assert found.reasons == (("Too few", ("bus", "train")), ("not known", ("flying",)))
    assert len(found) == 3
    assert not Hidden.of([])


def test_rows_that_neither_side_shows_are_no_rows(tables, earlier):
    here, there = {"region": str(LYON)}, {"region": str(MARSEILLE)}
    values = tables.domain("activity")

    def compared(first, second):
        sides = Side("one", tables, first), Side("other", earlier, second)
        return compare(*sides, metric="num_trips", by="activity", values=values)

    assert not compared(here, there).hidden
    nothing = compared(there, there)
    assert (len(nothing.hidden), nothing.told) == (9, ())
    assert "None of these 18 numbers is shown: its noise" in nothing.figure


def test_a_share_that_is_not_known_has_a_reason_though_its_row_is_shown(
    tables, earlier, monkeypatch
):
    monkeypatch.setattr(comparing, "share", lambda part, _: without(part))
    where = {"region": str(LYON)}
    sides = Side("now", tables, where), Side("then", earlier, where)
    values = tables.domain("activity")
    found = compare(*sides, metric="num_trips", by="activity", values=values, shares=True)
    ((why, names),) = found.hidden.reasons
    assert (why, len(names)) == ("Noise drowns the sum it is a share of", 9)


def test_what_emits_nothing_is_neither_compared_nor_called_not_shown(tables, earlier):
    where = {"region": str(LYON)}
    sides = Side("now", tables, where), Side("then", earlier, where)
    found = compare(*sides, metric="co2e_kg", by="activity", values=tables.domain("activity"))
    assert "cycling" not in [row.name for row in found.told]
    assert len(found.told) + len(found.hidden) == 6


def test_a_comparison_says_how_often_noise_looks_clear(client, released):
    said = words(client.get(f"/releases/compare?task={TASK}&place={LYON}"))
    assert said.count("noise alone makes about 1 row in 20 look clear") == 1


def test_a_folded_chart_draws_what_is_shown_and_names_the_rest(tables):
    whole = chart_of(View(metric="num_trips", by="activity", where={"region": str(LYON)}), tables)
    first, *rest = whole.lines
    drowned = replace(first[0], number=without(first[0].number), suppressed="Its noise is large.")
    chart = replace(whole, lines=((drowned,), *rest))
    assert chart.hidden.reasons == (("Its noise is large", (whole.labels[0],)),)
    assert "not shown" in chart.figure
    assert "not shown" not in chart.folded
    assert chart.folded.count(f">{whole.labels[1]}</text>") == 2  # for wide rooms and narrow ones


def test_where_nothing_is_shown_nothing_more_is_not(client, released):
    assert "more are not shown" not in words(client.get(f"/places/{MARSEILLE}?metric=num_trips"))


def test_a_chart_says_which_parts_it_counts_where_others_are_not_shown(tables):
    chart = chart_of(View(metric="num_trips", by="region", second="activity"), tables)
    assert chart.only == ""
    part = tuple(
        (lines[0], *(replace(line, number=without(line.number)) for line in lines[1:]))
        for lines in chart.lines
    )
    assert replace(chart, lines=part).only == "Activity: walking only. Noise drowns the others."


def test_bars_of_two_keys_are_sorted_by_what_is_drawn(tables, monkeypatch):
    """Also where the sum over the second key is hidden, though its parts are not."""
    whole = charting._Charting.firsts.func

    def hidden(self):
        found = whole(self).items()
        return {
            first: replace(line, number=without(line.number)) for first, line in reversed(found)
        }

    monkeypatch.setattr(charting._Charting, "firsts", property(hidden))
    chart = chart_of(View(metric="num_trips", by="region", second="activity"), tables)
    drawn = [sum(line.number.value for line in lines) for lines in chart.lines]
    assert drawn == sorted(drawn, reverse=True)
    assert len(set(drawn)) > 1
