"""A view of a release made into a chart: which rows, how they are measured, what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from portal.releases.browsing import captions, covering
from portal.releases.browsing.choosing import View, compared_key
from portal.releases.browsing.covering import Covered
from portal.releases.browsing.drawing import WIDE, Chart, Line
from portal.releases.browsing.measuring import (
    added,
    in_all,
    per_inhabitant,
    share,
    share_beside,
    without,
)
from portal.releases.browsing.ranking import Ranking, ranking
from portal.releases.browsing.tables import Tables, found_in, pick
from portal.releases.grouping import COUNTRY
from portal.releases.reading import PER_INHABITANT, Number
from portal.releases.showing import Named
from portal.streams import selectors as streams

__all__ = ["PER_INHABITANT_WARNING", "WIDE", "Chart", "Line", "chart_of"]

# Series beyond this cannot be told apart.
_MOST_SERIES = 9
# A key of more values has only the largest of them as series; those of a day's hours are all there.
_MOST_VALUES = 50
_MOST_PLACES = 50_000
PER_INHABITANT_WARNING = (
    "The amounts are of phones that take part, and are divided by all inhabitants: places with "
    "more phones per inhabitant rank higher."
)


def chart_of(view: View, tables: Tables) -> Chart:
    return _Charting(view, tables).chart()


@dataclass(frozen=True)
class _Charting:
    view: View
    tables: Tables

    def chart(self) -> Chart:
        view, firsts = self.view, list(self.firsts)
        series = self._series(firsts)
        cells = self._cells(firsts, series)
        totals = self._totals(firsts, series, cells)
        if totals and view.sort == "value":
            # The sum over the second key may be hidden where some of its parts are drawn.
            firsts.sort(key=lambda first: -(totals[first].value or 0.0))
        lines = tuple(
            tuple(self._line(first, one, cells) for one in series or [""]) for first in firsts
        )
        name = self._names(view.second)
        return Chart(
            view=view,
            title=self.title,
            unit=captions.unit(view, self.tables),
            heads=tuple(key for key in (view.by, view.second) if key),
            values=tuple(firsts),
            labels=tuple(self._names(view.by)(one) for one in firsts),
            series=tuple(name(one) for one in series) or (self.title,),
            lines=lines,
            totals=totals,
            left_out=max(0, self.known - len(firsts)) if view.by else 0,
            remark=self._remark,
            warning=PER_INHABITANT_WARNING if view.measure == "person" else "",
            ranked=self.ranked,
            is_of_shown=self.is_of_shown,
            covered=self.covered,
            coverage=covering.sentence(self.covered),
        )

    @cached_property
    def title(self) -> str:
        return captions.title(self.view, self.tables, self.ranked)

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

    @property
    def adds_up(self) -> bool:
        """Whether the bars of one group make a sum: ratios do not, and shares make all there is."""
        return self.view.measure != "share" and not self.tables.is_ratio(self.view.metric)

    @property
    def is_one(self) -> bool:
        """Whether the first key is held, too: then there is one row, with its reason if need be."""
        return self.view.by in self.view.where

    @property
    def around(self) -> dict[str, list[str]]:
        """What the rows are held at that a row is a share of."""
        held = self.held.items()
        return {key: values for key, values in held if not (self.is_one and key == self.view.by)}

    @cached_property
    def firsts(self) -> dict[str, Line]:
        """The rows of the first key that are drawn, in their order; suppressed places are not."""
        view = self.view
        where, ranked = self.held, self.ranked
        if ranked is not None:
            where = {**where, view.by: list(ranked.places)}
        elif self.drawn:
            where = {**where, view.by: self.drawn[: view.top]}
        layout, rows = self.tables.rows(
            self.keys,
            view.metric,
            where=where,
            sort=self._sort,
            shown_only=self._is_place and not (self.is_one or self.drawn),
            count=view.top,
        )
        at = layout.keys.index(view.by) if view.by else None
        found = {
            str(row.keys[at]) if at is not None else "": Line.of(found_in(layout, row, view.metric))
            for row in rows
        }
        if view.sort == "name":
            name = self._names(view.by)
            return dict(sorted(found.items(), key=lambda item: name(item[0])))
        return {place: found[place] for place in ranked.places} if ranked else found

    @cached_property
    def drawn(self) -> list[str]:
        """Of many rows with several bars each, those with any, the largest first: the sum of their
        bars may be hidden. Nothing where all rows are drawn, or bars make no sum."""
        view = self.view
        if not view.second or self.is_one or not self.adds_up or view.measure == "person":
            return []
        if not self._is_place and len(self.tables.domain(view.by)) <= view.top:
            return []
        keys = [*self.keys, view.second]
        found = self.tables.sums(keys, view.metric, of=view.by, where=self.held)
        return [value for value, _ in found]

    @cached_property
    def keys(self) -> list[str]:
        """Of the table that holds the first key with what is held."""
        return [key for key in dict.fromkeys((self.view.by, *self.held)) if key]

    @cached_property
    def ranked(self) -> Ranking | None:
        """Places by what one activity is of all there, where that is asked for."""
        view = self.view
        key = compared_key(view.by, view.where, self.tables)
        if view.measure != "share" or view.second or not key:
            return None
        return ranking(
            self.tables, view.metric, by=view.by, key=key, where=self.held, count=view.top
        )

    @cached_property
    def known(self) -> int:
        """Rows that have a number."""
        if self.ranked is not None:
            return self.ranked.count
        if self.drawn:
            return len(self.drawn)
        return self.tables.count(self.keys, self.view.metric, where=self.held, sort=self._sort)

    @cached_property
    def is_of_shown(self) -> bool:
        """Whether shares are of the rows that are shown; of one row alone there is none."""
        is_of_one = self.view.measure == "share" and not self.view.second and not self.ranked
        return is_of_one and not self._whole and self.known > 0 and len(self._shown) > 1

    @cached_property
    def covered(self) -> Covered:
        held = self.held
        return Covered(self.view, self.tables, self.keys, held, self.known, self.ranked)

    @property
    def _sort(self) -> str:
        return self.view.metric + (PER_INHABITANT if self._is_per_inhabitant else "")

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
        layout, rows = self.tables.rows(
            list(where), view.metric, where=where, count=len(firsts) * len(series)
        )
        one, two = layout.keys.index(view.by), layout.keys.index(view.second)
        return {
            (str(row.keys[one]), str(row.keys[two])): Line.of(found_in(layout, row, view.metric))
            for row in rows
        }

    def _totals(
        self, firsts: Sequence[str], series: Sequence[str], cells: Mapping[tuple[str, str], Line]
    ) -> dict[str, Number]:
        """What the lines of each first value add up to, where they do."""
        if not series or not self.adds_up:
            return {}
        count = len(self.tables.domain(self.view.second))
        found = {}
        for first in firsts:
            parts = [cells[first, one].number for one in series]
            total = in_all(parts, self.firsts[first].number if len(parts) == count else None)
            found[first] = self._measured(first, total)
        return found

    def _line(self, first: str, second: str, cells: Mapping[tuple[str, str], Line]) -> Line:
        found = cells[first, second]
        names = [self._names(self.view.by)(first)] if self.view.by else []
        names += [self._names(self.view.second)(second)] if self.view.second else []
        return Line(tuple(names), self._measured(first, found.number), found.suppressed)

    def _measured(self, first: str, number: Number) -> Number:
        if self.view.measure == "share":
            if self.ranked:
                return self.ranked.shares[first]
            if self.view.second:
                return share(number, self.firsts[first].number)
            return share(number, self._whole) if self._whole else self._among_shown(first, number)
        if self.view.measure == "person":
            place = first if self._is_place else self.view.where[self.tables.region_key]
            return per_inhabitant(number, place)
        return number

    @cached_property
    def _whole(self) -> Number | None:
        """The sum over all values of the first key; of a country's places, their country's.
        Nothing where it is not shown."""
        where = {key: value for key, value in self.view.where.items() if key != self.view.by}
        found = self.tables.one(self.view.metric, where)
        return found.number if found and found.number.value is not None else None

    def _among_shown(self, first: str, number: Number) -> Number:
        """The share of what is shown; of one row alone there is nothing to say."""
        rest = [one for value, one in self._shown.items() if value != first]
        return share_beside(number, added(rest)) if rest else without(number)

    @cached_property
    def _shown(self) -> dict[str, Number]:
        """All numbers that are shown, also beyond those that are drawn."""
        metric = self.view.metric
        layout, rows = self.tables.rows(
            self.keys, metric, where=self.around, shown_only=True, count=self._all_shown
        )
        at = layout.keys.index(self.view.by) if self.view.by else 0
        return {str(row.keys[at]): pick(layout, row, metric) for row in rows if row.keys}

    @property
    def _all_shown(self) -> int:
        return self.tables.count(self.keys, self.view.metric, where=self.around)

    def _names(self, key: str) -> Named:
        return self.tables.name_of(key)

    @property
    def _remark(self) -> str:
        if self.ranked and self.ranked.among:
            return captions.among_what_is_shown(self.ranked, self.tables)
        return captions.of_what_is_shown(is_one=self.is_one) if self.is_of_shown else ""
