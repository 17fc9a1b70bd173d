"""A table of a release, a page at a time, read from its file.

Only the columns and the groups of rows that a page needs are read, so that the millionth row of
the largest release is as near as the first.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aggregation.errors import Problem
from aggregation.protocol.domains import Value
from aggregation.release.render import WINDOW
from portal.releases.files import TableFile
from portal.releases.grouping import COUNTRY
from portal.releases.querying import DOWN, EVERYTHING, UP, OneOf, Question, Where, ask, quoted
from portal.releases.reasons import told
from portal.streams.gazetteer import gazetteer, ranks_by_name

__all__ = [
    "DOWN", "EVERYTHING", "PAGE_SIZE", "PER_INHABITANT", "RELATIVE", "UP", "ColumnNames", "Layout",
    "Number", "Row", "Where", "count_rows", "layout_of", "question", "read_rows",
]  # fmt: skip

PAGE_SIZE = 50
# After a value stand its half-width, the noise's part of it, clip correction and uncertainty.
_PARTS = 5
# A sort name with this at its end: by the share that the half-width is of its value.
RELATIVE = "_relative"
# Or by the value per inhabitant of its place; for charts, and no word of an address. Places whose
# inhabitants nobody counted are left out.
PER_INHABITANT = " per inhabitant"


@dataclass(frozen=True)
class ColumnNames:
    """Where a published number and what stands beside it are in the file."""

    value: str
    # In this order: half-width, the noise's part of it, clip correction, clip uncertainty.
    beside: tuple[str, ...]
    # Columns with words about single rows: why a ratio is missing, where a factor comes from.
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    keys: tuple[str, ...]
    columns: tuple[ColumnNames, ...]
    suppressed: str
    rows: int
    file: TableFile
    # The key whose values are places, where the caller knows it: then rows can also be asked for
    # by country.
    regions: str = ""

    def column(self, name: str) -> ColumnNames | None:
        return next((c for c in self.columns if c.value == name), None)

    def values(self, key: str) -> tuple[Value, ...]:
        """All values of a key, in the order of its domain."""
        if key == COUNTRY and self.has_countries:
            return tuple(gazetteer().countries)
        return _values(self.file.path, self.file.sha256, key)

    def known(self, key: str, wanted: Collection[str]) -> tuple[str, ...]:
        """Those of the wanted values that the key has, in the order of its domain.

        Quicker than all values: groups of rows without any of them are not read.
        """
        if key == COUNTRY and self.has_countries:
            return tuple(code for code in gazetteer().countries if code in wanted)
        return _known(self.file.path, self.file.sha256, key, tuple(sorted(wanted)))

    @property
    def has_countries(self) -> bool:
        """Whether rows have a country by way of their place."""
        return bool(self.regions) and COUNTRY not in self.keys

    @property
    def sorts(self) -> dict[str, str]:
        """What rows can be sorted by, with the SQL of it: our own words give way to columns."""
        numbers = {}
        for column in self.columns:
            value, width = quoted(column.value), quoted(column.beside[0])
            numbers[column.value + RELATIVE] = f"{width} / nullif(abs({value}), 0)"
            numbers[column.beside[0]] = width
        names = (*self.keys, *(column.value for column in self.columns))
        return numbers | {name: quoted(name) for name in names}


@dataclass(frozen=True)
class Number:
    """A released number with the half-width of its interval at 95 %; nothing where suppressed."""

    column: str
    value: float | None
    half_width: float | None
    # What the interval is made of: noise, clip correction as a share, and clip uncertainty, which
    # not every task knows.
    noise: float | None
    clip_correction: float | None
    clip_uncertainty: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    keys: tuple[Any, ...]
    numbers: tuple[Number, ...]
    # Why the row is not shown; empty for one that is.
    suppressed: str


def layout_of(file: TableFile, published: tuple[str, ...]) -> Layout:
    """By place, not by name: a task may have called a column what ours would be called."""
    meta = pq.read_metadata(file.path)
    names = meta.schema.to_arrow_schema().names
    first = names.index(WINDOW) + 1
    at = [names.index(name, first) for name in published]
    ends = [*at[1:], len(names) - 1]
    columns = tuple(
        ColumnNames(names[a], tuple(names[a + 1 : a + _PARTS]), tuple(names[a + _PARTS : end]))
        for a, end in zip(at, ends, strict=True)
    )
    return Layout(tuple(names[: first - 1]), columns, names[-1], meta.num_rows, file)


def read_rows(
    file: TableFile,
    layout: Layout,
    *,
    where: Where = EVERYTHING,
    shown_only: bool = False,
    having: str = "",
    sort: str = "",
    order: str = DOWN,
    first: int,
    count: int,
) -> list[Row]:
    """Rows in the order of a number or key, suppressed ones last; else in the order of the domain.

    Of each key in `where`, a row has one of the values that stand there; of the column `having`,
    any.
    """
    asked = question(
        layout,
        _wanted(layout),
        where=where,
        shown_only=shown_only,
        having=having,
        sort=sort,
        order=order,
    )
    return [_row(layout, list(found)) for found in asked.page(file, first=first, count=count)]


def count_rows(
    file: TableFile,
    layout: Layout,
    where: Where = EVERYTHING,
    shown_only: bool = False,
    *,
    having: str = "",
    sort: str = "",
) -> int:
    """How many rows there are to read."""
    if not (where or shown_only or having or sort):
        return layout.rows
    asked = question(layout, [], where=where, shown_only=shown_only, having=having, sort=sort)
    return asked.count(file)


def question(
    layout: Layout,
    columns: Sequence[str],
    *,
    where: Where = EVERYTHING,
    shown_only: bool = False,
    having: str = "",
    sort: str = "",
    order: str = UP,
    joins: bool = True,
) -> Question:
    """`having` is a column with a number: a row that is shown may lack one that is a ratio. `joins`
    is for all but streams of rows; see `OneOf`."""
    conditions: list[str] = []
    bound: list[str] = []
    joined: dict[str, pa.Table] = {}
    for asked, wanted in where.items():
        key, values = asked, wanted
        if key == COUNTRY and layout.has_countries:
            key, values = layout.regions, _places_in(wanted)
        if key not in layout.keys:
            raise Problem(f"The table {layout.file.name} has no key {key}.")
        one = OneOf(quoted(key), values, joins)
        conditions.append(one.sql)
        bound += one.values
        joined |= one.joined
    if shown_only:
        conditions.append(f"{quoted(layout.suppressed)} IS NULL")
    if having:
        conditions.append(f"{quoted(having)} IS NOT NULL")
    named = [quoted(name) for name in columns]
    found = Question(named, conditions, bound, order=order, joined=joined)
    if sort and sort == layout.regions:
        return _by_name_of_place(found, quoted(sort))
    if layout.regions and sort.endswith(PER_INHABITANT):
        return _by_inhabitants(found, quoted(layout.regions), sort.removesuffix(PER_INHABITANT))
    return replace(found, sort=layout.sorts.get(sort, ""))


def _by_inhabitants(question: Question, key: str, column: str) -> Question:
    """Without places whose inhabitants nobody counted."""
    people = {name: one.population for name, one in gazetteer().places.items() if one.population}
    counted = pa.table({"a place": list(people), "its people": list(people.values())})
    join = f'JOIN "people of places" ON "a place" = {key}'
    sort = f'{quoted(column)} / "its people"'
    joined = {**question.joined, "people of places": counted}
    return replace(question, sort=sort, join=join, joined=joined)


def _by_name_of_place(question: Question, key: str) -> Question:
    """Names of ours have a space in them: no column of a task does."""
    ranks = ranks_by_name()
    places = pa.table({"a place": list(ranks), "its rank": list(ranks.values())})
    join = f'LEFT JOIN "places by name" ON "a place" = {key}'
    joined = {**question.joined, "places by name": places}
    return replace(question, sort='"its rank"', join=join, joined=joined)


def _places_in(countries: Sequence[str]) -> list[str]:
    places = gazetteer().places.items()
    return [value for value, place in places if place.country in countries]


@lru_cache(maxsize=64)
def _values(path: Path, sha256: str, key: str) -> tuple[Value, ...]:
    """In the order of their first rows, which is that of the domain. Files never change."""
    name = quoted(key)
    statement = (
        f"SELECT {name} FROM read_parquet(?, file_row_number = true) "  # noqa: S608 - quoted name
        f"GROUP BY {name} ORDER BY MIN(file_row_number)"
    )
    return tuple(value for (value,) in ask(statement, str(path)))


@lru_cache(maxsize=512)
def _known(path: Path, sha256: str, key: str, wanted: tuple[str, ...]) -> tuple[str, ...]:
    text = f"{quoted(key)}::VARCHAR"
    statement = (
        f"SELECT {text} FROM read_parquet(?, file_row_number = true) "  # noqa: S608 - quoted name
        f"WHERE {text} IN ({', '.join('?' * len(wanted))}) "
        "GROUP BY 1 ORDER BY MIN(file_row_number)"
    )
    return tuple(value for (value,) in ask(statement, str(path), *wanted))


def _wanted(layout: Layout) -> list[str]:
    names = list(layout.keys)
    for column in layout.columns:
        names += [column.value, *column.beside, *column.notes]
    return [*names, layout.suppressed]


def _row(layout: Layout, values: list[Any]) -> Row:
    keys, rest = values[: len(layout.keys)], values[len(layout.keys) :]
    numbers = []
    for column in layout.columns:
        value, width, noise, correction, clip, *rest = rest
        notes = tuple(told(n) for n in [rest.pop(0) for _ in column.notes] if n)
        numbers.append(Number(column.value, value, width, noise, correction, clip, notes))
    return Row(tuple(keys), tuple(numbers), told(rest[0] or ""))
