"""A chart of a release as it is drawn, and as the table that says the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from portal.charts import Group, Mark, fitted, histogram
from portal.releases.browsing.choosing import View
from portal.releases.browsing.covering import Covered
from portal.releases.browsing.hiding import Hidden
from portal.releases.browsing.ranking import Ranking
from portal.releases.browsing.tables import Found
from portal.releases.browsing.units import label
from portal.releases.reading import Number
from portal.releases.reasons import listed

# As wide as a chart is drawn for a page, and for half of one.
WIDE, HALF = 900, 440


@dataclass(frozen=True)
class Line:
    """One number of the chart, for its table."""

    names: tuple[str, ...]
    number: Number
    suppressed: str

    @classmethod
    def of(cls, found: Found) -> Line:
        """Without its names."""
        return cls((), found.number, found.suppressed)


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
    # By value of the first key, what the lines of its series that are shown add up to; nothing
    # where there is one series, or where they do not add up.
    totals: Mapping[str, Number]
    # Rows that have a number but are not among these.
    left_out: int
    # What shares are of, where that is not the sum over all rows; else empty.
    remark: str
    # What a ranking would be read wrongly without; else empty.
    warning: str
    # What its shares are of where each is of a whole of its own: one place's, and not of one sum.
    ranked: Ranking | None
    # Whether its shares are of the rows that are shown, as the sum over all is not.
    is_of_shown: bool
    covered: Covered
    # How many places have a number to rank, and why others have not; empty for other keys.
    coverage: str

    @cached_property
    def figure(self) -> str:
        """For a page that has its title beside it, as wide as the page or as a phone."""
        return fitted(lambda width: self.svg(width=width, heading=False), wide=WIDE)

    @property
    def folded(self) -> str:
        """For a page that tells beside it what is not shown."""
        return fitted(self._folded, wide=WIDE)

    @property
    def half(self) -> str:
        """The same for half of a page."""
        return fitted(self._folded, wide=HALF)

    def _folded(self, width: int) -> str:
        return self.svg(width=width, heading=False, folded=True)

    @property
    def hidden(self) -> Hidden:
        """What a folded chart leaves out."""
        lines = [line for lines in self.lines for line in lines if line.number.value is None]
        return Hidden.of((", ".join(line.names), _why(line)) for line in lines)

    @property
    def only(self) -> str:
        """Which series have bars, where others have none: a part would read as the whole."""
        shown = [
            name
            for n, name in enumerate(self.series)
            if any(lines[n].number.value is not None for lines in self.lines)
        ]
        if not shown or len(shown) == len(self.series):
            return ""
        return f"{self.view.second.capitalize()}: {listed(shown)} only. Noise drowns the others."

    def svg(self, *, width: int = WIDE, heading: bool = True, folded: bool = False) -> str:
        """By itself, with its title, it also holds what a page says beside it."""
        remarks = [one for one in (self.warning, self.remark) if one and heading]
        groups = [
            Group(label, tuple(_mark(line) for line in lines), total=self._total(value))
            for value, label, lines in zip(self.values, self.labels, self.lines, strict=True)
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
                remarks=remarks,
                folded=folded,
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
            remarks=remarks,
            folded=folded,
        )

    def _total(self, value: str) -> Mark | None:
        found = self.totals.get(value)
        return Mark(found.value, found.half_width) if found else None

    @property
    def head(self) -> str:
        """Of the column of numbers in its table."""
        if self.view.measure == "share":
            return "share (%)"
        return self.unit if self.view.measure == "person" else label(self.view.metric, self.unit)

    @property
    def is_empty(self) -> bool:
        return all(line.number.value is None for lines in self.lines for line in lines)


def _mark(line: Line) -> Mark:
    return Mark(line.number.value, line.number.half_width, note=_why(line))


def _why(line: Line) -> str:
    return line.suppressed or ("not known" if line.number.value is None else "")
