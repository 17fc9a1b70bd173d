"""Where one thing is done most: places by its share of all that is done there.

Amounts rank places by how many phones take part in them, and so do amounts per inhabitant. A share
has the same phones above and below the line, so that how many there are cancels.

The whole is the sum over all values of the key in the same place, as it is released. That sum
carries the noise of every value, also of those that nobody has: where it is not shown, the whole
is the sum of those values that are shown in all places where this one is, the same in each of
them. The chart names them.

A place whose whole could be noise alone has no share, and no rank: whether it has one is decided
where places are put in order, by the same rule as in `measuring`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa

from portal.releases.browsing.measuring import added, share, share_beside
from portal.releases.browsing.tables import Tables, pick
from portal.releases.files import TableFile
from portal.releases.querying import SMALL, Where, ask, quoted, remembered
from portal.releases.reading import Layout, Number, question

# Sums over all values are used if so large a part of the places has them.
_ENOUGH: Final = 0.5
_NONE: Final[Mapping[str, Number]] = MappingProxyType({})


@dataclass(frozen=True)
class Ranking:
    # The key whose value is ranked, and that value.
    key: str
    value: str
    # The values that make up the whole; empty where it is the sum over all.
    among: tuple[str, ...]
    # The first places, in their order, and how many have a share at all.
    places: tuple[str, ...]
    count: int
    shares: Mapping[str, Number]


def ranking(
    tables: Tables,
    metric: str,
    *,
    by: str,
    key: str,
    where: Where,
    count: int,
    parts: Mapping[str, Number] = _NONE,
) -> Ranking:
    """Places by the share that the value of `key` in `where` has; other keys are held in both.
    `parts` are the numbers of `where`, if they have been read."""
    return _Ranking(tables, metric, by, key, where, count, parts).found()


@dataclass(frozen=True)
class _Ranking:
    tables: Tables
    metric: str
    by: str
    key: str
    where: Where
    count: int
    parts: Mapping[str, Number]

    def found(self) -> Ranking:
        whole = self._of_all()
        if whole.count >= max(1.0, _ENOUGH * self._shown.get(self.value, 0)):
            return whole
        return self._among(self._common())

    @property
    def value(self) -> str:
        return self.where[self.key][0]

    @property
    def others(self) -> dict[str, Sequence[str]]:
        """What is held beside the key."""
        return {name: values for name, values in self.where.items() if name != self.key}

    @cached_property
    def keys(self) -> list[str]:
        return list(dict.fromkeys([self.by, *self.where]))

    @property
    def without(self) -> list[str]:
        return [name for name in self.keys if name != self.key]

    def _of_all(self) -> Ranking:
        part, whole = self._rows(self.keys, self.where), self._rows(self.without, self.others)
        by, metric = quoted(self.by), quoted(self.metric)
        joined = (
            f'(SELECT {by}, {metric} AS "the part", {part.width} AS "its width" {part.sql}) '
            f'JOIN (SELECT {by}, {metric} AS "the whole", {whole.width} AS "that of the whole" '
            f"{whole.sql}) USING ({by})"
        )
        stands_out = '"the whole" > sqrt("its width" ** 2 + "that of the whole" ** 2)'
        order = f'ORDER BY "the part" / "the whole" DESC, {by}'
        statement = f"SELECT {by}, COUNT(*) OVER () FROM {joined} WHERE {stands_out} {order}"  # noqa: S608 - quoted names
        places, count = self._first(statement, part, whole)
        parts = self.parts
        if not parts.keys() >= {*places}:
            read = self._numbers(self.keys, {**self.where, self.by: places}, len(places))
            parts = {place: number for place, (number,) in read.items()}
        wholes = self._numbers(self.without, {**self.others, self.by: places}, len(places))
        shares = {place: share(parts[place], wholes[place][0]) for place in places}
        return Ranking(self.key, self.value, (), tuple(places), count, shares)

    def _among(self, values: Sequence[str]) -> Ranking:
        """Of places that show all of these values."""
        if len(values) == 1:
            return Ranking(self.key, self.value, tuple(values), (), 0, {})
        places, count = self._first_among(values)
        others = [value for value in values if value != self.value]
        parts, rests = (
            self._numbers(
                self.keys,
                {**self.others, self.by: places, self.key: some},
                len(places) * len(some),
            )
            for some in ([self.value], others)
        )
        shares = {one: share_beside(parts[one][0], added(rests[one])) for one in places}
        return Ranking(self.key, self.value, tuple(values), tuple(places), count, shares)

    def _first_among(self, values: Sequence[str]) -> tuple[list[str], int]:
        """As in `measuring.added`: squares of noise add, what clipping moved adds up."""
        rows = self._rows(self.keys, {**self.others, self.key: values})
        by, metric = quoted(self.by), quoted(self.metric)
        part = f"{quoted(self.key)}::VARCHAR = ?"
        squares = f"SUM(CASE WHEN {part} THEN {rows.width} ELSE {rows.noise} END ** 2)"
        clip = f"SUM(CASE WHEN {part} THEN 0 ELSE {rows.clip} END)"
        statement = (
            f"SELECT {by}, COUNT(*) OVER () {rows.sql} GROUP BY {by} "
            f"HAVING COUNT(*) = {len(values)} AND SUM({metric}) > sqrt({squares} + {clip} ** 2) "
            f"ORDER BY SUM({metric}) FILTER (WHERE {part}) / SUM({metric}) DESC, {by}"
        )
        return self._first(statement, rows, last=[self.value] * 3)

    def _common(self) -> list[str]:
        """This value, and those shown wherever it is; else the one shown in most of these places.

        In the order of the key's domain.
        """
        most = self._shown.get(self.value, 0)
        shown = {value: places for value, places in self._shown.items() if value != self.value}
        common = [value for value, places in shown.items() if places == most]
        if not common and shown:
            common = [max(shown, key=lambda value: shown[value])]
        return [one for one in self.tables.domain(self.key) if one in (self.value, *common)]

    @cached_property
    def _shown(self) -> dict[str, int]:
        """For each value, in how many of the places that show this one it is shown."""
        rows, own = self._rows(self.keys, self.others), self._rows(self.keys, self.where)
        by, key = quoted(self.by), quoted(self.key)
        statement = (
            f"SELECT {key}::VARCHAR, COUNT(*) {rows.sql} "
            f"AND {by} IN (SELECT {by} {own.sql}) GROUP BY 1 ORDER BY 1"
        )
        found = _answer(statement, [rows, own], small=True)
        return {str(value): int(places) for value, places in found}

    def _numbers(self, keys: Sequence[str], where: Where, count: int) -> dict[str, list[Number]]:
        """By place, of so many rows."""
        layout, rows = self.tables.rows(keys, self.metric, where=where, count=count)
        at = layout.keys.index(self.by)
        found: dict[str, list[Number]] = {}
        for row in rows:
            found.setdefault(str(row.keys[at]), []).append(pick(layout, row, self.metric))
        return found

    def _rows(self, keys: Sequence[str], where: Where) -> _Rows:
        file = self.tables.file(keys, self.metric)
        layout: Layout = self.tables.shown.layout(file)
        asked = question(layout, [], where=where, shown_only=True)
        sql = f"FROM read_parquet(?) WHERE {' AND '.join(asked.conditions)}"
        column = layout.column(self.metric)
        beside = [f"coalesce({quoted(name)}, 0)" for name in column.beside] if column else []
        return _Rows(sql, file, tuple(asked.values), tuple(beside), asked.joined)

    def _first(
        self, statement: str, *rows: _Rows, last: Sequence[str | int] = ()
    ) -> tuple[list[str], int]:
        """The first places of all that a statement finds, and how many those are."""
        last = [*last, self.count]
        found = _answer(f"{statement} LIMIT ?", rows, last, small=self.count <= SMALL)
        return [str(place) for place, _ in found], int(found[0][1]) if found else 0


@dataclass(frozen=True)
class _Rows:
    """Shown rows of a table, as the end of a statement, with the values of its marks."""

    sql: str
    file: TableFile
    values: tuple[str, ...]
    # SQL of what stands beside the metric: half-width, noise, clip correction, clip uncertainty.
    beside: tuple[str, ...]
    joined: Mapping[str, pa.Table]

    @property
    def width(self) -> str:
        return self.beside[0]

    @property
    def noise(self) -> str:
        return self.beside[1]

    @property
    def clip(self) -> str:
        return self.beside[3]

    @property
    def marks(self) -> tuple[str, ...]:
        """With that of the path, which stands first."""
        return (str(self.file.path), *self.values)


def _answer(
    statement: str, rows: Sequence[_Rows], last: Sequence[str | int] = (), *, small: bool
) -> Sequence[tuple[Any, ...]]:
    """Of rows in the order of their marks; remembered if it is small and asked with few values."""
    first, *more = rows
    values = (*first.values, *(mark for one in more for mark in one.marks), *last)
    joined = {name: table for one in rows for name, table in one.joined.items()}
    if small and not joined:
        return remembered(first.file, statement, values)
    return ask(statement, str(first.file.path), *values, joined=joined)
