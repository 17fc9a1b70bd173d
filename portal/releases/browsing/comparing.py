"""Two sides of the same question: two windows, or two places, row by row, with the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from portal.charts import Group, Mark, fitted, histogram
from portal.releases.browsing import words
from portal.releases.browsing.change import Change
from portal.releases.browsing.charting import WIDE
from portal.releases.browsing.hiding import Hidden
from portal.releases.browsing.measuring import is_nothing, share
from portal.releases.browsing.tables import Found, Tables, found_in
from portal.releases.browsing.units import counted, spoken
from portal.releases.reading import Number

# Rows that a sentence names.
_MOST_NAMED = 5
_NO_SHARE = "Noise drowns the sum it is a share of"


@dataclass(frozen=True)
class Side:
    """A release, with some keys held."""

    label: str
    tables: Tables
    where: Mapping[str, str]


@dataclass(frozen=True)
class Row:
    name: str
    first: Number
    second: Number
    # Why a side is not shown.
    reasons: tuple[str, str]

    @property
    def is_hidden(self) -> bool:
        return self.first.value is None and self.second.value is None

    @property
    def is_nothing(self) -> bool:
        """On both sides, whatever people did."""
        return is_nothing(self.first) and is_nothing(self.second)

    @property
    def change(self) -> Change | None:
        """From the second to the first."""
        return Change.between(self.second, self.first)


@dataclass(frozen=True)
class Comparison:
    metric: str
    unit: str
    by: str
    sides: tuple[Side, Side]
    rows: tuple[Row, ...]

    @property
    def figure(self) -> str:
        return fitted(self._svg, wide=WIDE)

    def _svg(self, width: int) -> str:
        groups = [
            Group(
                row.name,
                tuple(
                    Mark(number.value, number.half_width, note=why)
                    for number, why in zip((row.first, row.second), row.reasons, strict=True)
                ),
            )
            for row in self.told or self.rows
        ]
        series = [side.label for side in self.sides]
        title = " and ".join(series)
        return histogram(groups, series, title=title, unit=self.noun, width=width, heading=False)

    @property
    def told(self) -> tuple[Row, ...]:
        """Rows that are shown on one side at least, and emit something."""
        return tuple(row for row in self.rows if not (row.is_hidden or row.is_nothing))

    @property
    def hidden(self) -> Hidden:
        """The others, with the reasons of the first side."""
        return Hidden.of((row.name, row.reasons[0]) for row in self.rows if row.is_hidden)

    @property
    def known(self) -> int:
        """How many rows are shown on both sides, but for those that a factor of 0 left without
        noise, and without anything to tell."""
        return sum(bool(row.change and row.change.half_width) for row in self.rows)

    @property
    def is_known(self) -> bool:
        return self.known > 0

    @property
    def sentence(self) -> str:
        """What differs by more than the noise, or what comes nearest to it, in numbers."""
        known = [(row.name, row.change) for row in self.rows if row.change]
        if not known:
            return "No row is shown on both sides, so nothing can be compared."
        clear = sorted(
            ((name, one) for name, one in known if one.is_clear),
            key=lambda pair: -abs(pair[1].difference),
        )
        if clear:
            named = ", ".join(self._told(name, one) for name, one in clear[:_MOST_NAMED])
            rest = f", and {len(clear) - _MOST_NAMED} more" if len(clear) > _MOST_NAMED else ""
            left = "Everything else is within the noise, or not shown."
            return f"Clearly different: {named}{rest}. {left}"
        name, nearest = max(known, key=lambda pair: _nearness(pair[1]))
        return (
            "Nothing differs by more than the noise. What comes nearest is "
            f"{self._told(name, nearest)}."
        )

    def _told(self, name: str, change: Change) -> str:
        return f"{name} ({words.difference(change, self.noun)})"

    @property
    def name(self) -> str:
        """Of the metric, at the beginning of a sentence."""
        name = spoken(self.metric, self.sides[0].tables.unit(self.metric))
        return f"Shares of {name}" if self.unit == "%" else name.capitalize()

    @property
    def noun(self) -> str:
        return counted(self.metric, self.unit)


def best_comparison(
    first: Side, second: Side, *, metrics: Sequence[str], by: str, shares: bool = False
) -> Comparison:
    """Of the metric with most rows that are shown on both sides; the first where none has more."""
    values = first.tables.domain(by)
    made = (
        compare(first, second, metric=one, by=by, values=values, shares=shares) for one in metrics
    )
    return max(made, key=lambda one: one.known)


def places_to_compare(first: Tables, second: Tables, *, metric: str, by: str) -> list[str]:
    """Values of the places' key with rows by this one in both, those of most rows first."""
    key = first.region_key or first.country_key
    if not key or by in (first.region_key, first.country_key) or not second.has(metric, [key, by]):
        return []
    then = set(second.shown_by([key, by], metric, key))
    return [place for place in first.shown_by([key, by], metric, key) if place in then]


def compare(
    first: Side, second: Side, *, metric: str, by: str, values: Sequence[str], shares: bool = False
) -> Comparison:
    """By the values of one key; as shares of each side's own sum where the sides differ in size."""
    left, right = (_numbers(side, metric, by, shares=shares) for side in (first, second))
    name = first.tables.name_of(by)
    rows = [
        Row(name(v), left[v].number, right[v].number, (left[v].suppressed, right[v].suppressed))
        for v in values
        if v in left and v in right
    ]
    unit = "%" if shares else first.tables.unit(metric)
    return Comparison(metric, unit, by, (first, second), tuple(rows))


def _nearness(change: Change) -> float:
    """To being clear; what has no noise, having been multiplied by 0, is not near."""
    return abs(change.difference) / change.half_width if change.half_width else 0.0


def _numbers(side: Side, metric: str, by: str, *, shares: bool) -> dict[str, Found]:
    held = {key: [value] for key, value in side.where.items()}
    layout, rows = side.tables.rows([*held, by], metric, where=held)
    at = layout.keys.index(by)
    found = {str(row.keys[at]): found_in(layout, row, metric) for row in rows}
    if not shares:
        return found
    side.tables.needs_sum(metric)
    whole = side.tables.one(metric, side.where)
    if whole is None:
        return {}
    return {value: _share(part, whole.number) for value, part in found.items()}


def _share(part: Found, whole: Number) -> Found:
    """With its reason where it is not known, also of a part that is shown."""
    found = share(part.number, whole)
    return Found(found, part.suppressed or (_NO_SHARE if found.value is None else ""))
