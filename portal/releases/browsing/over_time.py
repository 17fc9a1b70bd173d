"""A number over the windows up to now. Where noise drowns it in all of them, what it is the sum
of: the lines of those values of another key that are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from portal.charts import COLOURS, Line, Mark, fitted, timeline
from portal.releases.browsing.change import Change
from portal.releases.browsing.charting import WIDE
from portal.releases.browsing.history import MOST_WINDOWS, Viewer, rendered
from portal.releases.browsing.tables import MOST_ROWS, Found, Tables, found_in
from portal.releases.models import Release
from portal.releases.reading import Number
from portal.releases.showing import Shown

# More cannot be told apart.
MOST_LINES = 5
_NOTHING = Found(Number("", None, None, None, None, None, ()), "")


@dataclass(frozen=True)
class Step:
    release: Release
    # Of which line.
    name: str
    found: Found
    # Since the window before.
    change: Change | None


@dataclass(frozen=True)
class OverTime:
    viewer: Viewer
    release: Release
    metric: str
    where: Mapping[str, str]
    # Of the place or country.
    name: str
    # The key whose values have lines of their own where the sum over it is not shown, if any.
    key: str

    @cached_property
    def windows(self) -> list[tuple[Release, Tables]]:
        """Those with this number, the latest last: an earlier revision had its own."""
        rows = rendered(self.viewer).filter(window__task=self.release.window.task)
        rows = rows.filter(window__start__lte=self.release.window.start)
        newest = reversed(rows.order_by("-window__start")[:MOST_WINDOWS])
        found = [(release, Tables(Shown(release))) for release in newest]
        return [(one, tables) for one, tables in found if tables.has(self.metric, self.where)]

    @cached_property
    def lines(self) -> dict[str, list[Found]]:
        """By name, one number for each window."""
        whole = {self.name: [_one(tables, self.metric, self.where) for _, tables in self.windows]}
        return whole if _is_shown(whole[self.name]) else self._apart or whole

    @property
    def is_apart(self) -> bool:
        return list(self.lines) != [self.name]

    @property
    def is_shown(self) -> bool:
        return any(_is_shown(line) for line in self.lines.values())

    @property
    def is_there(self) -> bool:
        """One window is no time."""
        return len(self.windows) > 1

    @property
    def steps(self) -> list[Step]:
        """Line after line, each number with its change."""
        found = []
        for name, line in self.lines.items():
            changes = [Change.between(before.number, now.number) for before, now in pairwise(line)]
            found += [
                Step(release, name, one, change)
                for (release, _), one, change in zip(
                    self.windows, line, [None, *changes], strict=True
                )
            ]
        return found

    @property
    def figure(self) -> str:
        return fitted(self._timeline, wide=WIDE)

    @cached_property
    def _apart(self) -> dict[str, list[Found]]:
        """The largest now of those that are shown in some window."""
        if not self.key or not all(t.has(self.metric, [self.key]) for _, t in self.windows):
            return {}
        found = [_by_value(tables, self.metric, self.where, self.key) for _, tables in self.windows]
        lines = {value: [one.get(value, _NOTHING) for one in found] for value in found[-1]}
        shown = {value: line for value, line in lines.items() if _is_shown(line)}
        largest = sorted(shown, key=lambda value: -(shown[value][-1].number.value or 0.0))
        return {value: shown[value] for value in largest[:MOST_LINES]}

    def _timeline(self, width: int) -> str:
        tables = self.windows[-1][1]
        return timeline(
            [release.window.as_window().label for release, _ in self.windows],
            [
                Line(name, tuple(map(_mark, line)), self._colours.get(name))
                for name, line in self.lines.items()
            ],
            title=f"{self.name} over time",
            unit=tables.unit(self.metric),
            width=width,
            heading=False,
        )

    @cached_property
    def _colours(self) -> dict[str, int]:
        """A value keeps its colour whichever others are shown, where there are enough of them."""
        domain = self.windows[-1][1].domain(self.key) if self.is_apart else []
        return {value: n for n, value in enumerate(domain)} if len(domain) <= COLOURS else {}


def _one(tables: Tables, metric: str, where: Mapping[str, str]) -> Found:
    return tables.one(metric, where) or _NOTHING


def _by_value(tables: Tables, metric: str, where: Mapping[str, str], key: str) -> dict[str, Found]:
    held = {name: [value] for name, value in where.items()}
    # No more than there are: few rows are remembered from one visit to the next.
    count = min(len(tables.domain(key)), MOST_ROWS)
    layout, rows = tables.rows([*where, key], metric, where=held, count=count)
    at = layout.keys.index(key)
    return {str(row.keys[at]): found_in(layout, row, metric) for row in rows}


def _is_shown(line: Sequence[Found]) -> bool:
    """A zero without noise says nothing: on foot, nothing is emitted."""
    return any(one.number.value is not None and _is_something(one.number) for one in line)


def _is_something(number: Number) -> bool:
    return bool(number.value or number.half_width)


def _mark(found: Found) -> Mark:
    return Mark(found.number.value, found.number.half_width, note=found.suppressed)
