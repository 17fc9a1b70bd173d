"""Which table of a release answers a question: the one with just the keys that are asked about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aggregation.errors import Problem
from aggregation.protocol.domains import Value
from aggregation.release.emissions import COLUMN as EMISSIONS
from aggregation.release.publish import PREFIX
from aggregation.release.render import file_name
from aggregation.release.tables import published_columns
from portal.releases.browsing.units import label, unit_of
from portal.releases.files import TableFile
from portal.releases.grouping import COUNTRY
from portal.releases.querying import ask, quoted, remembered
from portal.releases.reading import (
    EVERYTHING,
    Layout,
    Number,
    Row,
    Where,
    count_rows,
    question,
    read_rows,
)
from portal.releases.showing import Named, Shown, kind_of_domain
from portal.streams.folding import words

# As many rows as a chart, a map or a page about a place ever reads.
MOST_ROWS = 5_000
# Of a list to choose from. Places have more, and are typed: also those of a release whose list of
# places is no longer the one that is installed.
MOST_OPTIONS = 500


@dataclass(frozen=True)
class Tables:
    """The tables of one release, by the keys they have."""

    shown: Shown

    @property
    def own_keys(self) -> tuple[str, ...]:
        """Those that the task groups by."""
        return tuple(key.name for key in self.shown.config.keys)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The task's keys, and the country where its regions fall into countries."""
        names = self.own_keys
        has_countries = self.shown.file(f"by-{COUNTRY}") and COUNTRY not in names
        return (COUNTRY, *names) if has_countries else names

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Published columns; emissions last, where the task has them."""
        named = tuple(published_columns(self.shown.config))
        return (*named, EMISSIONS) if self.shown.config.post_processing else named

    def is_ratio(self, metric: str) -> bool:
        return bool(self.denominator(metric))

    def denominator(self, metric: str) -> str:
        """The sum that a ratio is divided by; empty for what is no ratio."""
        found = (one.denominator for one in self.shown.config.derived if one.name == metric)
        return next(found, "")

    def needs_sum(self, metric: str) -> None:
        """A Problem for a ratio: it has neither shares nor inhabitants to be divided among."""
        if self.is_ratio(metric):
            raise Problem(
                f"{metric} is a ratio, so there are no shares of it.",
                hint="Choose one of the sums it is made of.",
            )

    @property
    def region_key(self) -> str:
        return self.shown.region_key

    @cached_property
    def country_key(self) -> str:
        """The key whose values are countries: the task's own, or the one regions fall into."""
        found = (k.name for k in self.shown.config.keys if kind_of_domain(k.domain) == "countries")
        return next(found, COUNTRY if COUNTRY in self.keys else "")

    def has(self, metric: str, keys: Iterable[str]) -> bool:
        """Whether it can be asked for by these keys: an earlier revision had its own."""
        return metric in self.metrics and set(keys) <= set(self.keys)

    @property
    def labels(self) -> list[tuple[str, str]]:
        """Metrics to choose from, each with its name in plain words."""
        return [(metric, label(metric, self.unit(metric))) for metric in self.metrics]

    def unit(self, metric: str) -> str:
        return unit_of(metric, self.shown.config.streams)

    def domain(self, key: str) -> Sequence[str]:
        """The values of a key, in their order.

        Read from the release: the streams that are installed now may have other ones.
        """
        file = self.file([key], self.metrics[0])
        return [str(value) for value in self.shown.layout(file).values(key)]

    def file(self, keys: Sequence[str], metric: str) -> TableFile:
        """The table with these keys and no others."""
        names = self.own_keys
        # The country stands where the region would.
        swap = COUNTRY in keys and COUNTRY not in names
        order = [COUNTRY if swap and name == self.region_key else name for name in names]
        chosen = [name for name in order if name in keys]
        prefix = PREFIX if metric == EMISSIONS else ""
        wanted = file_name(chosen, all_keys=names, prefix=prefix).removesuffix(".parquet")
        found = self.shown.file(wanted)
        if found is None or set(keys) - set(chosen):
            raise Problem(f"This release has no table by {' and '.join(keys) or 'nothing'}.")
        return found

    def rows(
        self,
        keys: Sequence[str],
        metric: str,
        *,
        where: Where = EVERYTHING,
        shown_only: bool = False,
        sort: str = "",
        count: int = MOST_ROWS,
    ) -> tuple[Layout, list[Row]]:
        """Rows of the table with these keys, the largest first where they are sorted. Those that
        are shown have a number of this metric."""
        file = self.file(keys, metric)
        layout = self.shown.layout(file)
        having = metric if shown_only else ""
        rows = read_rows(file, layout, where=where, having=having, sort=sort, first=0, count=count)
        return layout, rows

    def count(
        self,
        keys: Sequence[str],
        metric: str,
        *,
        where: Where = EVERYTHING,
        shown_only: bool = True,
        sort: str = "",
    ) -> int:
        """Rows of that table that have a number of this metric, or all; of those that have what
        they are sorted by."""
        file = self.file(keys, metric)
        having = metric if shown_only else ""
        return count_rows(file, self.shown.layout(file), where, having=having, sort=sort)

    def shown_by(self, keys: Sequence[str], metric: str, of: str) -> list[str]:
        """Values of one key that rows of that table have numbers for, those of most rows first."""
        file = self.file(keys, metric)
        asked = question(self.shown.layout(file), [], having=metric)
        key, conditions = quoted(of), " AND ".join(asked.conditions)
        found = ask(
            f"SELECT {key} FROM read_parquet(?) WHERE {conditions} "  # noqa: S608 - quoted names
            f"GROUP BY {key} ORDER BY COUNT(*) DESC, {key}",
            str(file.path),
        )
        return [str(value) for (value,) in found]

    def counts(
        self, keys: Sequence[str], metric: str, *, of: str, where: Where
    ) -> list[tuple[str, int]]:
        """For each value of a key, how many rows of that table have a number; most first."""
        return self._by_value("COUNT(*)", keys, metric, of, where)

    def sums(
        self, keys: Sequence[str], metric: str, *, of: str, where: Where
    ) -> list[tuple[str, float]]:
        """For each value of a key that rows of that table have numbers for, their sum; most first.
        No released number: it is what is drawn of one, to tell who comes first."""
        return self._by_value(f"SUM({quoted(metric)})", keys, metric, of, where)

    def _by_value(
        self, what: str, keys: Sequence[str], metric: str, of: str, where: Where
    ) -> list[tuple[str, Any]]:
        file = self.file(keys, metric)
        asked = question(self.shown.layout(file), [], where=where, having=metric)
        statement = (
            f"SELECT {quoted(of)}::VARCHAR, {what} FROM read_parquet(?) "  # noqa: S608 - quoted names
            f"WHERE {' AND '.join(asked.conditions)} GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        if asked.joined:
            return ask(statement, str(file.path), *asked.values, joined=asked.joined)
        return list(remembered(file, statement, tuple(asked.values)))

    def name_of(self, key: str) -> Named:
        """How values of a key are written."""
        return self.shown.names((key,))[0] if key else str

    def options(self, key: str, values: Sequence[Value]) -> list[tuple[str, str]]:
        """What a key can be held at, with its name; nothing where it is typed."""
        if key == self.region_key or len(values) > MOST_OPTIONS:
            return []
        name = self.name_of(key)
        found = [(str(value), name(value)) for value in values]
        # Words stay in the order in which they are declared; names for codes have one of their own.
        return found if name is str else sorted(found, key=lambda one: words(one[1]))

    def one(self, metric: str, where: Mapping[str, str]) -> Found | None:
        """The one number of a metric for these values of these keys, summed over all others."""
        held = {key: [value] for key, value in where.items()}
        layout, rows = self.rows(tuple(where), metric, where=held, count=1)
        return found_in(layout, rows[0], metric) if rows else None


@dataclass(frozen=True)
class Found:
    number: Number
    # Why it is not shown.
    suppressed: str


def found_in(layout: Layout, row: Row, metric: str) -> Found:
    """The number of a row. A row that is shown may lack a ratio, whose own note says why."""
    number = pick(layout, row, metric)
    why = row.suppressed or (" ".join(number.notes) if number.value is None else "")
    return Found(number, why)


def pick(layout: Layout, row: Row, metric: str) -> Number:
    at = [column.value for column in layout.columns].index(metric)
    return row.numbers[at]
