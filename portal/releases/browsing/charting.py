"""A view of a release as a chart, and as the table that says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from portal.charts import Group, Mark, fitted, histogram
from portal.releases.browsing.choosing import View
from portal.releases.browsing.measuring import PER, per_inhabitant, share
from portal.releases.browsing.tables import Tables, pick
from portal.releases.browsing.units import spoken
from portal.releases.grouping import COUNTRY
from portal.releases.reading import PER_INHABITANT, Number
from portal.releases.showing import Named
from portal.streams import selectors as streams

# As wide as a chart is drawn for a page, and for half of one.
WIDE, HALF = 900, 440
# Series beyond this cannot be told apart.
_MOST_SERIES = 9
# A key of more values has only the largest of them as series; those of a day's hours are all there.
_MOST_VALUES = 50
_MOST_PLACES = 50_000
_TITLES = {"amount": "{}", "share": "shares of {}", "person": "{} per inhabitant"}


@dataclass(frozen=True)
class Line:
    """One number of the chart, for its table."""

    names: tuple[str, ...]
    number: Number
    suppressed: str


@dataclass(frozen=True)
class Chart:
    view: View
    title: str
    unit: str
    # The keys, as heads of the table's first columns.
    heads: tuple[str, ...]
    # By value of the first key, one line per series; the values themselves, and as they are named.
    values: tuple[str, ...]
    labels: tuple[str, ...]
    series: tuple[str, ...]
    lines: tuple[tuple[Line, ...], ...]
    # Rows that have a number but are not among these.
    left_out: int

    @property
    def figure(self) -> str:
        """For a page that has its title beside it, as wide as the page or as a phone."""
        return fitted(lambda width: self.svg(width=width, heading=False), wide=WIDE)

    @property
    def half(self) -> str:
        """For half of a page."""
        return fitted(lambda width: self.svg(width=width, heading=False), wide=HALF)

    def svg(self, *, width: int = WIDE, heading: bool = True) -> str:
        groups = [
            Group(label, tuple(_mark(line) for line in lines))
            for label, lines in zip(self.labels, self.lines, strict=True)
        ]
        if self.view.second and self.view.layout == "multiples":
            panels = [
                (name, [replace(group, marks=(group.marks[n],)) for group in groups])
                for n, name in enumerate(self.series)
            ]
            return histogram(
                panels,
                [self.title],
                title=self.title,
                unit=self.unit,
                log=self.view.log,
                width=width,
                heading=heading,
            )
        return histogram(
            groups,
            self.series,
            title=self.title,
            unit=self.unit,
            stacked=bool(self.view.second) and self.view.layout == "stacked",
            log=self.view.log,
            width=width,
            heading=heading,
        )

    @property
    def is_empty(self) -> bool:
        return all(line.number.value is None for lines in self.lines for line in lines)


def chart_of(view: View, tables: Tables) -> Chart:
    return _Charting(view, tables).chart()


@dataclass(frozen=True)
class _Charting:
    view: View
    tables: Tables

    def chart(self) -> Chart:
        view, firsts = self.view, self.firsts
        series = self._series(list(firsts))
        cells = self._cells(list(firsts), series)
        lines = tuple(
            tuple(self._line(first, one, cells) for one in series or [""]) for first in firsts
        )
        name = self._names(view.second)
        return Chart(
            view=view,
            title=self._title(),
            unit=self._unit(),
            heads=tuple(key for key in (view.by, view.second) if key),
            values=tuple(firsts),
            labels=tuple(self._names(view.by)(one) for one in firsts),
            series=tuple(name(one) for one in series) or (self._title(),),
            lines=lines,
            left_out=self._left_out(len(firsts)),
        )

    @cached_property
    def held(self) -> dict[str, list[str]]:
        """Keys that are held at values. Places of one country are so many places."""
        found = {key: [value] for key, value in self.view.where.items()}
        if self.view.by == self.tables.region_key and COUNTRY not in self.tables.own_keys:
            code = found.pop(COUNTRY, None)
            if code:
                there = streams.places_matching("", country=code[0], limit=_MOST_PLACES)
                found[self.view.by] = [str(place.geonameid) for place in there]
        return found

    @cached_property
    def firsts(self) -> dict[str, Line]:
        """The rows of the first key that are drawn, in their order; suppressed places are not."""
        view = self.view
        keys = [key for key in dict.fromkeys((view.by, *self.held)) if key]
        layout, rows = self.tables.rows(
            keys,
            view.metric,
            where=self.held,
            sort=view.metric + (PER_INHABITANT if self._is_per_inhabitant else ""),
            shown_only=self._is_place,
            count=view.top,
        )
        at = layout.keys.index(view.by) if view.by else None
        found = {
            str(row.keys[at]) if at is not None else "": Line(
                (), pick(layout, row, view.metric), row.suppressed
            )
            for row in rows
        }
        if view.sort == "name":
            name = self._names(view.by)
            found = dict(sorted(found.items(), key=lambda item: name(item[0])))
        return found

    @property
    def _is_place(self) -> bool:
        return bool(self.view.by) and self.view.by == self.tables.region_key

    @property
    def _is_per_inhabitant(self) -> bool:
        return self._is_place and self.view.measure == "person"

    def _series(self, firsts: Sequence[str]) -> list[str]:
        view, tables = self.view, self.tables
        if not view.second or not firsts:
            return []
        if view.second != tables.country_key:
            values = list(tables.domain(view.second))
            if len(values) <= _MOST_VALUES:
                return values
        _, rows = tables.rows([view.second], view.metric, sort=view.metric, count=_MOST_SERIES)
        return [str(row.keys[0]) for row in rows]

    def _cells(
        self, firsts: Sequence[str], series: Sequence[str]
    ) -> Mapping[tuple[str, str], Line]:
        """Numbers by both keys."""
        view = self.view
        if not series:
            return {(first, ""): line for first, line in self.firsts.items()}
        where = {**self.held, view.by: firsts, view.second: series}
        layout, rows = self.tables.rows(list(where), view.metric, where=where)
        one, two = layout.keys.index(view.by), layout.keys.index(view.second)
        return {
            (str(row.keys[one]), str(row.keys[two])): Line(
                (), pick(layout, row, view.metric), row.suppressed
            )
            for row in rows
        }

    def _line(self, first: str, second: str, cells: Mapping[tuple[str, str], Line]) -> Line:
        found = cells[first, second]
        names = [self._names(self.view.by)(first)] if self.view.by else []
        names += [self._names(self.view.second)(second)] if self.view.second else []
        return Line(tuple(names), self._measured(first, found.number), found.suppressed)

    def _measured(self, first: str, number: Number) -> Number:
        if self.view.measure == "share":
            whole = self.firsts[first].number if self.view.second else self._whole
            return share(number, whole)
        if self.view.measure == "person":
            place = first if self._is_place else self.view.where[self.tables.region_key]
            return per_inhabitant(number, place)
        return number

    @cached_property
    def _whole(self) -> Number:
        """The sum over all values of the first key; of a country's places, their country's."""
        where = dict(self.view.where)
        layout, rows = self.tables.rows(
            list(where), self.view.metric, where={k: [v] for k, v in where.items()}, count=1
        )
        return pick(layout, rows[0], self.view.metric)

    def _names(self, key: str) -> Named:
        return self.tables.name_of(key)

    def _title(self) -> str:
        view, unit = self.view, self.tables.unit(self.view.metric)
        parts = [_TITLES[view.measure].format(spoken(view.metric, unit)).capitalize()]
        keys = [key for key in (view.by, view.second) if key]
        if keys:
            parts.append("by " + " and ".join(keys))
        held = [self._names(key)(value) for key, value in view.where.items()]
        return " ".join(parts) + (f" ({', '.join(held)})" if held else "")

    def _unit(self) -> str:
        unit = self.tables.unit(self.view.metric)
        if self.view.measure == "share":
            return "%"
        if self.view.measure == "person":
            return f"{unit or self.view.metric} per {PER:,} inhabitants"
        return unit

    def _left_out(self, drawn: int) -> int:
        if drawn < self.view.top or not self.view.by:
            return 0
        keys = [key for key in dict.fromkeys((self.view.by, *self.held)) if key]
        return max(0, self.tables.count(keys, self.view.metric, where=self.held) - drawn)


def _mark(line: Line) -> Mark:
    note = line.suppressed or ("not known" if line.number.value is None else "")
    return Mark(line.number.value, line.number.half_width, note=note)
