"""What an address asks for: understood, shortened, and refused with a sentence."""

from dataclasses import replace

import pytest
from django.http import QueryDict

from aggregation.errors import Problem
from portal.releases.browsing import charting
from portal.releases.browsing.charting import chart_of
from portal.releases.browsing.choosing import View, field_name, one_of, task_of
from portal.releases.reading import PER_INHABITANT, layout_of, read_rows
from portal.streams import selectors as streams
from tests.portal.releases.browsing.conftest import LYON, PARIS
from tests.portal.releases.test_reading import table


def view(query: str, tables) -> View:
    return View.parse(QueryDict(query), tables)


def test_it_works(tables):
    found = view("metric=distance_km&by=region&second=activity&top=20&layout=stacked", tables)
    assert (found.metric, found.by, found.second) == ("distance_km", "region", "activity")
    assert found.query == "metric=distance_km&by=region&second=activity&top=20&layout=stacked"


def test_nothing_asked_for_is_a_view_too(tables):
    assert view("", tables).query == "metric=num_trips&by=activity"


def test_who_holds_the_usual_key_and_says_no_more_asks_for_places(tables):
    found = view("activity=driving", tables)
    assert (found.by, found.where) == ("region", {"activity": "driving"})


def test_a_place_is_found_by_its_name(tables):
    for text in ("Lyon", "lyon", "LYON, FR", str(LYON), "lyo"):
        assert view(f"region={text}", tables).where == {"region": str(LYON)}, text


def test_a_place_holds_its_country_already(tables):
    assert view("region=Lyon&country=DE", tables).where == {"region": str(LYON)}


REFUSED = [
    ("metric=distance", "no metric 'distance'"),
    ("by=acivity", "no key 'acivity'"),
    ("activity=driving&by=region&second=countri", "no key 'countri'"),
    ("activity=drive&by=region", "no activity 'drive'"),
    ("region=Atlantis", "No place is called 'Atlantis'"),
    ("country=ZZ", "no country 'ZZ'"),
    ("by=region&second=country", "A place lies in one country"),
    ("by=country&region=Lyon", "A place lies in one country"),
    ("top=0", "1 to 50 rows"),
    ("top=-1", "1 to 50 rows"),
    ("top=9999999999999999999999", "1 to 50 rows"),
    ("measure=person", "Inhabitants are known of places only"),
    ("layout=pie", "no layout 'pie'"),
]


def test_what_cannot_be_shown_is_said(tables):
    for query, message in REFUSED:
        with pytest.raises(Problem, match=message):
            view(query, tables)


def test_the_nearest_is_named(tables):
    with pytest.raises(Problem) as raised:
        view("by=acivity", tables)
    assert raised.value.hint == "Did you mean activity?"


def test_a_chart_has_the_rows_of_its_table_the_largest_first(tables):
    chart = chart_of(view("metric=distance_km&by=region", tables), tables)
    values = [lines[0].number.value for lines in chart.lines]
    assert values == sorted(values, reverse=True)
    # One has nobody in it, and is not drawn.
    assert len(chart.labels) == 4


def test_by_two_keys_rows_add_up_to_the_first(tables):
    """Exactly: both are sums of the same noised cells."""
    one = chart_of(view("metric=distance_km&by=region", tables), tables)
    two = chart_of(view("metric=distance_km&by=region&second=activity", tables), tables)
    for alone, lines in zip(one.lines, two.lines, strict=True):
        total = sum(line.number.value for line in lines)
        assert total == pytest.approx(alone[0].number.value)


def test_shares_are_of_all_rows_or_within_each(tables):
    alone = chart_of(view("metric=distance_km&by=activity&measure=share", tables), tables)
    assert sum(lines[0].number.value for lines in alone.lines) == pytest.approx(100)
    within = chart_of(
        view("metric=distance_km&by=region&second=activity&measure=share", tables), tables
    )
    for lines in within.lines:
        assert sum(line.number.value for line in lines) == pytest.approx(100)


def test_places_of_one_country(tables):
    chart = chart_of(view("by=region&country=FR", tables), tables)
    assert all(label.endswith(", FR") for label in chart.labels)
    assert len(chart.labels) == 2


def test_per_inhabitant_counts_people_of_the_place(tables):
    plain = chart_of(view(f"metric=distance_km&region={PARIS}", tables), tables)
    each = chart_of(view(f"metric=distance_km&region={PARIS}&measure=person", tables), tables)
    ratio = plain.lines[0][0].number.value / each.lines[0][0].number.value
    assert ratio * 1000 == pytest.approx(streams.place(PARIS).population)


def test_of_many_values_the_largest_are_series(tables, monkeypatch):
    monkeypatch.setattr(charting, "_MOST_VALUES", 3)
    monkeypatch.setattr(charting, "_MOST_SERIES", 2)
    largest = tables.domain("activity")[::-1][:2]
    assert chart_of(view("by=region&second=activity", tables), tables).series == tuple(largest)


def test_in_order_of_names(tables):
    chart = chart_of(view("by=activity&sort=name", tables), tables)
    assert list(chart.labels) == sorted(chart.labels)


def test_every_layout_can_be_drawn(tables):
    for layout in ("grouped", "stacked", "multiples"):
        for log in ("", "1"):
            asked = view(f"by=region&second=activity&layout={layout}&log={log}", tables)
            assert chart_of(asked, tables).svg().startswith("<svg")


def test_a_key_may_be_called_like_a_word_of_ours():
    assert field_name("sort") == "key.sort"
    assert field_name("region") == "region"
    assert View(metric="n", by="region", where={"metric": "x"}).query == (
        "metric=n&by=region&key.metric=x&measure=amount"
    )


def test_a_chart_says_what_it_divides_by(tables) -> None:
    for measure, title in {
        "amount": "Distance by region (cycling)",
        "share": "Share of cycling in distance by region",
        "person": "Distance per inhabitant by region (cycling)",
    }.items():
        asked = {"metric": "distance_km", "by": "region", "activity": "cycling", "measure": measure}
        assert chart_of(View.parse(asked, tables), tables).title == title


def test_a_chart_per_inhabitant_has_those_first_who_do_most(tables) -> None:
    """Not those of the largest sums, of which the top would be cut off first."""
    asked = "metric=distance_km&by=region&activity=cycling&measure=person&top={}"
    values = [
        [lines[0].number.value for lines in chart_of(view(asked.format(top), tables), tables).lines]
        for top in (2, 10)
    ]
    assert values[1] == sorted(values[1], reverse=True)
    assert values[0] == values[1][:2]


def test_rows_per_inhabitant_are_in_another_order(tables, tmp_path) -> None:
    file = table(tmp_path, {"region": [str(PARIS), str(LYON)]}, {"km": [100.0, 90.0]})
    layout = replace(layout_of(file, ("km",)), regions="region")
    for sort, first in {"km": PARIS, "km" + PER_INHABITANT: LYON}.items():
        assert read_rows(file, layout, sort=sort, first=0, count=1)[0].keys == (str(first),)


def test_countries_are_listed_by_name_and_words_as_they_are_declared(tables) -> None:
    found = tables.options("country", ["DE", "FR"])
    assert found == [("FR", "France"), ("DE", "Germany")]
    assert [value for value, _ in tables.options("activity", ["walking", "bus"])] == (
        ["walking", "bus"]
    )


def test_a_long_list_is_typed(tables) -> None:
    """Of a release whose places are no longer the installed ones, the region is any other key."""
    assert ("cycling", "cycling") in tables.options("activity", tables.domain("activity"))
    assert tables.options("activity", [str(number) for number in range(501)]) == []
    assert tables.options(tables.region_key, ["2988507"]) == []


@pytest.mark.parametrize(
    ("known", "hint"),
    [
        (["AD"], "There is only AD."),
        (["AD", "AE"], "There are AD, AE."),
        (
            [f"A{n}" for n in range(222)],
            f"There are {', '.join(f'A{n}' for n in range(20))} and 202 more.",
        ),
    ],
)
def test_of_many_some_are_named_and_the_others_counted(known, hint):
    with pytest.raises(Problem) as refused:
        one_of("XX", known, "country", "")
    assert (refused.value.message, refused.value.hint) == (
        "This release has no country 'XX'.",
        hint,
    )


def test_a_task_is_no_part_of_a_release():
    assert task_of("", ["one"], "to compare", "usual") == "usual"
    with pytest.raises(Problem, match="There is no task to compare that is called 'nope'"):
        task_of("nope", ["one"], "to compare", "")
