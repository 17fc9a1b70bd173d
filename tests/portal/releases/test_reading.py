"""Reading tables: filters, orders and pages, with values that are bound and never pasted."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.http import QueryDict

from aggregation.errors import Problem
from portal.releases.files import TableFile
from portal.releases.filtering import Filter
from portal.releases.reading import DOWN, UP, Layout, count_rows, layout_of, question, read_rows

REGIONS = ("300", "20", "1000")
ACTIVITIES = ("walking", "cycling")
WIDTHS = [1.0, 2.0, 0.5, 4.0, 1.0, 0.25]
KM = [10.0, -40.0, None, 0.0, 100.0, 1.0]
LOST = "The noise is too large."


def table(folder: Path, keys: dict[str, Any], numbers: dict[str, list[float | None]]) -> TableFile:
    """A file as releases have them: keys, window, numbers with what stands beside, reason."""
    fields: dict[str, Any] = {**keys}
    rows = len(next(iter(keys.values())))
    fields["privacy_time_unit"] = ["2026-11-09"] * rows
    for name, values in numbers.items():
        hidden = [value is None for value in values]
        fields[name] = values
        for part in ("half_width", "noise"):
            fields[f"{name}_{part}"] = [
                None if h else w for h, w in zip(hidden, WIDTHS, strict=False)
            ]
        fields[f"{name}_clip_correction"] = [None if h else 0.0 for h in hidden]
        fields[f"{name}_clip_uncertainty"] = pa.nulls(rows, pa.float64())
    fields["suppressed"] = pa.array([LOST if h else None for h in hidden], pa.string())
    path = folder / "cells.parquet"
    pq.write_table(pa.table(fields), path, row_group_size=2)
    return TableFile("cells", path, str(path))


@pytest.fixture
def file(tmp_path: Path) -> TableFile:
    keys = {
        "region": list(np.repeat(REGIONS, 2)),
        "activity": list(ACTIVITIES) * 3,
        "hour_of_day": [0, 5, 10, 0, 5, 10],
    }
    return table(tmp_path, keys, {"km": KM})


@pytest.fixture
def layout(file: TableFile) -> Layout:
    return layout_of(file, ("km",))


@pytest.fixture
def read(file: TableFile, layout: Layout) -> Any:
    def values(**asked: Any) -> list[float | None]:
        rows = read_rows(file, layout, **{"first": 0, "count": 50, **asked})
        return [row.numbers[0].value for row in rows]

    return values


def parsed(text: str, layout: Layout, **more: Any) -> Filter:
    return Filter.parse(QueryDict(text), layout, **more)


def test_it_works(read, file, layout):
    assert read() == KM
    assert read(where={"activity": ["cycling"]}) == [-40.0, 0.0, 1.0]
    assert read(where={"activity": ["walking"], "region": ["20", "1000"]}) == [None, 100.0]
    assert read(where={"activity": ["walking"]}, shown_only=True) == [10.0, 100.0]
    assert count_rows(file, layout) == 6
    assert count_rows(file, layout, {"activity": ["walking"]}) == 3
    assert count_rows(file, layout, {"activity": ["walking"]}, True) == 2


def test_it_sorts_by_numbers_widths_and_keys(read):
    assert read(sort="km", order=DOWN) == [100.0, 10.0, 1.0, 0.0, -40.0, None]
    assert read(sort="km", order=UP) == [-40.0, 0.0, 1.0, 10.0, 100.0, None]
    assert read(sort="km_half_width", order=UP) == [1.0, 10.0, 100.0, -40.0, 0.0, None]
    # Shares: 0.1, 0.05, none, of nothing, 0.01, 0.25.
    assert read(sort="km_relative", order=UP) == [100.0, -40.0, 10.0, 1.0, None, 0.0]
    assert read(sort="activity", order=UP) == [-40.0, 0.0, 1.0, 10.0, None, 100.0]
    assert read(sort="hour_of_day", order=DOWN) == [None, 1.0, -40.0, 100.0, 10.0, 0.0]


def test_pages_come_one_after_the_other(read):
    for asked in ({}, {"sort": "km"}, {"sort": "km", "order": UP, "shown_only": True}):
        whole = read(**asked)
        assert read(first=0, count=2, **asked) + read(first=2, count=9, **asked) == whole
    assert read(first=6, count=2) == []
    assert read(first=1, count=2, where={"region": ["20", "1000"]}) == [0.0, 100.0]


def test_deep_pages_are_the_same(read, monkeypatch):
    """Far down it is first found out which rows are wanted."""
    asked = [
        {"sort": "km", "order": order, "where": where, "first": first, "count": 2}
        for order in (UP, DOWN)
        for where in ({}, {"region": ["300", "1000"]})
        for first in range(6)
    ]
    usual = [read(**one) for one in asked]
    monkeypatch.setattr("portal.releases.querying._DEEP", 0)
    assert [read(**one) for one in asked] == usual


def test_many_values_are_joined_and_find_the_same(read, file, layout, monkeypatch):
    """In the order of the file, too, whichever side of the join is read first."""
    where = {"region": ["1000", "300"], "activity": ["cycling", "walking"]}
    asked = [
        {"where": where, "sort": sort, "first": first, "count": count}
        for sort in ("", "km")
        for first in range(4)
        for count in (2, 1000)
    ]
    usual, count = [read(**one) for one in asked], count_rows(file, layout, where)
    monkeypatch.setattr("portal.releases.querying._MANY", 1)
    joined = question(layout, [], where=where)
    assert list(joined.joined) == ['wanted of "region"', 'wanted of "activity"']
    assert not joined.values
    assert [read(**one) for one in asked] == usual
    assert count_rows(file, layout, where) == count == 4
    # What is read as a stream would have to be sorted for it.
    assert not question(layout, [], where=where, joins=False).joined


def test_values_are_never_part_of_the_statement(read, file, layout):
    for evil in ("') OR 1=1 --", "cycling' OR 'a'='a", "\0", "NULL", "x" * 10000):
        assert read(where={"activity": [evil]}) == []
        assert read(where={"hour_of_day": [evil]}) == []
    assert read(where={"hour_of_day": ["5", "none"]}) == [-40.0, 100.0]
    assert read(where={"activity": []}) == []
    with pytest.raises(Problem, match="has no key activity;"):
        count_rows(file, layout, {"activity; DROP": ["x"]})


def test_the_values_of_a_key_stand_in_the_order_of_the_domain(layout):
    assert layout.values("region") == REGIONS
    assert layout.values("activity") == ACTIVITIES
    assert layout.values("hour_of_day") == (0, 5, 10)
    assert layout.known("region", {"1000", "300", "7"}) == ("300", "1000")
    assert layout.known("hour_of_day", {"10", "5", "x"}) == ("5", "10")


def test_a_column_of_the_task_comes_before_our_words(tmp_path):
    """A metric may be called what we call the share, or the half-width."""
    file = table(tmp_path, {"region": ["1", "2"]}, {"km": [1.0, 2.0], "km_relative": [9.0, 8.0]})
    layout = layout_of(file, ("km", "km_relative"))
    assert layout.sorts["km_relative"] == '"km_relative"'


def test_an_address_becomes_a_filter_and_the_same_address_again(layout):
    text = "region=20&activity=cycling&activity=walking&shown=1&sort=-km&page=3"
    found = parsed(text, layout)
    assert found == Filter(
        where={"region": ("20",), "activity": ("walking", "cycling")},
        shown_only=True,
        sort="km",
        order=DOWN,
        page=3,
    )
    short = "region=20&activity=walking&activity=cycling&shown=1&sort=-km&page=3"
    assert found.querystring() == short
    assert parsed(short, layout) == found
    assert parsed("page=1&shown=0&sort=&activity=", layout) == Filter()
    assert Filter().querystring() == ""
    assert Filter().is_everything
    assert not found.is_everything
    assert found.without("region").querystring() == (
        "activity=walking&activity=cycling&shown=1&sort=-km"
    )
    assert Filter(sort="km", order=UP).on_page(2).querystring() == "sort=km&page=2"


def test_what_is_not_known_is_told_with_what_is_near(layout):
    for text, sentence in {
        "activty=cycling": "takes no parameter 'activty'. Did you mean activity?",
        "activity=cyclng": "No row of cells has the activity 'cyclng'. Did you mean cycling?",
        "hour_of_day=30": "No row of cells has the hour_of_day '30'.",
        "sort=-kmm": "cannot be sorted by 'kmm'. Did you mean km?",
        "shown=perhaps": "shown is 1 or 0, not 'perhaps'.",
        "page=0": "page is a whole number from 1, not '0'.",
        "page=-1": "page is a whole number",
        "page=²": "page is a whole number",
        "page=99999999999999999": "page is a whole number",
        "table=cells": "takes no parameter 'table'",
        "&".join(f"region={n}" for n in range(501)): "501 values of region are too many",
    }.items():
        with pytest.raises(Problem) as problem:
            parsed(text, layout)
        assert sentence in str(problem.value), text
    assert parsed("table=cells", layout, beside=["table"]) == Filter()


def test_the_nearest_of_many_places_is_not_looked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.portal.releases.test_reading.WIDTHS", [1.0] * 2000)
    places = [str(number) for number in range(2000)]
    file = table(tmp_path, {"region": places}, {"km": [1.0] * 2000})
    with pytest.raises(Problem, match="Places go by their GeoNames id"):
        parsed("region=x", layout_of(file, ("km",)))


def test_a_key_that_is_called_as_one_of_our_words(tmp_path):
    file = table(tmp_path, {"page": ["a", "b"]}, {"km": [1.0, 2.0]})
    layout = layout_of(file, ("km",))
    found = parsed("key.page=b&page=2", layout)
    assert (found.where, found.page) == ({"page": ("b",)}, 2)
    assert parsed(found.querystring(), layout) == found


def test_another_file_at_the_same_place_answers_for_itself(tmp_path: Path) -> None:
    """Answers are remembered by what was signed for, not by the path."""
    answers = []
    for value in (1.0, 2.0):
        made = table(tmp_path, {"region": ["300"]}, {"km": [value]})
        file = TableFile(made.name, made.path, f"hash {value}")
        layout = layout_of(file, ("km",))
        answers += [read_rows(file, layout, first=0, count=50)[0].numbers[0].value] * 2
        assert count_rows(file, layout, shown_only=True) == 1
    assert answers == [1.0, 1.0, 2.0, 2.0]
