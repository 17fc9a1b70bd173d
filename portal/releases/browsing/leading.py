"""A chart in a sentence: which row comes first, whether that is certain, and how it has changed.

That one bar is longer than the next says little where both have noise: this says whether the
difference is larger than the noise of the two, and the same of the change.

Whichever of many comes first has, more likely than not, noise that made it larger. Of ten that are
alike one in eight would so seem to have grown. Growth is therefore called clear only of a row that
is clearly first, or was chosen, or is the only one; that it is less than before needs no such care.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from portal.releases.browsing import words
from portal.releases.browsing.change import Change
from portal.releases.browsing.charting import PER_INHABITANT_WARNING, Chart, Line
from portal.releases.browsing.choosing import View, compared_key
from portal.releases.browsing.history import earlier_period
from portal.releases.browsing.measuring import per_inhabitant
from portal.releases.browsing.share_change import MOVED, POINTS, share_since
from portal.releases.browsing.tables import Tables
from portal.releases.grouping import COUNTRY
from portal.releases.reading import Number
from portal.releases.reasons import listed

# What a ranking of places says first: about the phones that take part, or about what people do.
PER_INHABITANT = (
    f"This ranks places by who takes part as much as by what people do. {PER_INHABITANT_WARNING}"
)
AMOUNTS = (
    "These are sums over the phones that take part: larger places, and places where more people "
    "take part, rank higher."
)


# As many names as a sentence has room for.
_NAMED: Final = 3


@dataclass(frozen=True)
class Leading:
    # The value of the key that comes first: a place's id, an activity.
    value: str
    name: str
    sentence: str
    # Compared with the window before; empty if there is none. Whether it is more than noise.
    change: str
    is_clear: bool


def leading(chart: Chart, tables: Tables, earlier: Tables | None) -> Leading | None:
    """Nothing where no row comes first: two keys at once, another order, or nothing shown."""
    view = chart.view
    lines = [lines[0] for lines in chart.lines]
    if view.second or not view.by or view.sort != "value" or not lines:
        return None
    if lines[0].number.value is None:
        return None
    found = _Order(chart, [one for one in lines if one.number.value is not None])
    change, said = _since(chart, lines[0].number, tables, earlier)
    by_chance = change is not None and may_be_chance(change, is_clearly_first=found.is_clear)
    if change and by_chance:
        said = _by_chance(chart, change, earlier_period(tables.shown.release))
    return Leading(
        value=chart.values[0],
        name=chart.labels[0],
        sentence=found.sentence,
        change=said,
        is_clear=bool(change and change.is_clear and not by_chance),
    )


def may_be_chance(change: Change, *, is_clearly_first: bool) -> bool:
    """Whether a row that grew may have come first, and so have grown, by its noise."""
    return change.is_clear and change.difference > 0 and not is_clearly_first


@dataclass(frozen=True)
class Caveat:
    """What a ranking of places does not say, and the address of one that does."""

    sentence: str
    # Whether it would be read wrongly without.
    is_warning: bool
    query: str
    offer: str


def caveat(view: View, tables: Tables) -> Caveat | None:
    """Nothing where no places are ranked, or where they are by shares, which have none of it."""
    places = (tables.region_key, tables.country_key)
    if not view.by or view.by not in places or view.measure == "share" or view.second:
        return None
    if tables.is_ratio(view.metric):
        return None
    key = compared_key(view.by, view.where, tables)
    query, offer = "", ""
    if key:
        name = tables.name_of(key)(view.where[key])
        query = view.but(measure="share").query
        offer = f"Rank by the share of {name} instead, which does not depend on how many take part"
    is_warning = view.measure == "person"
    return Caveat(PER_INHABITANT if is_warning else AMOUNTS, is_warning, query, offer)


@dataclass(frozen=True)
class _Order:
    """Which rows may be first: those that are not clearly below any other.

    Of rows that are not drawn it is only known that none is larger than the last one that is. They
    are taken to have no more noise than the noisiest of those.
    """

    chart: Chart
    # With numbers, the largest first.
    lines: Sequence[Line]

    @property
    def is_clear(self) -> bool:
        """Of one that was chosen, too: it did not come first by chance."""
        return self._is_chosen or not (self.rivals or self.has_further)

    @property
    def sentence(self) -> str:
        first, *others = self.lines
        name, amount = self.chart.labels[0], words.amount(first.number, self.chart.unit)
        name = f"{name[:1].upper()}{name[1:]}"
        if self._is_chosen:
            return f"{name}: {amount}."
        if not others:
            is_only = not self.chart.left_out
            how = "is the only one whose number is shown, with" if is_only else "comes first with"
            return f"{name} {how} {amount}."
        unit = "%" if self.chart.view.measure == "share" else ""
        then = f"{others[0].names[0]} with {words.amount(others[0].number, unit)}"
        return f"{name} comes first with {amount}, then {then}.{self._certainty(others[0])}"

    def _certainty(self, second: Line) -> str:
        """Whether the next may be first as well, or any below it: some have more noise."""
        ahead = self._distance(self.lines[0], second)
        if ahead is None:
            return ""
        told = words.distance(ahead, POINTS if self.chart.view.measure == "share" else "")
        between = f" The difference between the two, {told}, is"
        near = [one.names[0] for one in self.rivals if one is not second]
        if ahead.is_clear:
            also = listed(near) if len(near) <= _NAMED else f"{len(near)} others"
            but = f"; but {also}, with more noise, may be first, too" if near else ""
            return f"{between} larger than the noise{but}."
        if not near and not self.has_further:
            return f"{between} within the noise: either may be first."
        count = f"{'at least ' if self.has_further else ''}{len(near) + 2}"
        return f"{between} within the noise, and {count} may be first{self._which(near)}."

    def _which(self, near: Sequence[str]) -> str:
        is_told = 0 < len(near) <= _NAMED and not self.has_further
        return f", {listed(near)} among them" if is_told else ""

    @cached_property
    def rivals(self) -> list[Line]:
        first, *others = self.lines
        found = [first]
        for at, one in enumerate(others, start=1):
            if not any(self._is_above(other, one) for other in self.lines[:at]):
                found.append(one)
        return found[1:]

    @cached_property
    def has_further(self) -> bool:
        """Whether some that are not drawn may be first."""
        if not self.chart.left_out:
            return False
        width = max(one.number.half_width or 0.0 for one in self.lines)
        last = self.lines[-1]
        unseen = replace(last, number=replace(last.number, half_width=width))
        return not any(self._is_above(other, unseen) for other in self.lines)

    @property
    def _is_chosen(self) -> bool:
        return self.chart.view.by in self.chart.view.where

    def _is_above(self, one: Line, other: Line) -> bool:
        distance = self._distance(one, other)
        return distance is not None and distance.is_clear and distance.difference > 0

    def _distance(self, one: Line, other: Line) -> Change | None:
        # Of one whole, what one part loses another may have won.
        opposed = self.chart.view.measure == "share" and self.chart.ranked is None
        return Change.between(other.number, one.number, opposed=opposed)


def _since(
    chart: Chart, now: Number, tables: Tables, earlier: Tables | None
) -> tuple[Change | None, str]:
    view = chart.view
    held = {**view.where, view.by: chart.values[0]}
    if view.by == tables.region_key and COUNTRY not in tables.own_keys:
        held.pop(COUNTRY, None)  # the place lies in it anyhow
    if earlier is None or not earlier.has(view.metric, held):
        return None, ""
    than = earlier_period(tables.shown.release)
    if view.measure == "share":
        return share_since(chart, now, held, than, earlier)
    then = earlier.one(view.metric, held)
    if then is None:
        return None, ""
    before = then.number
    if view.measure == "person":
        place = chart.values[0] if view.by == tables.region_key else view.where[tables.region_key]
        before = per_inhabitant(before, place)
    change, name = Change.between(before, now), chart.labels[0]
    if change is None:
        return None, f"The number for {name} is not shown for {than}: there is no comparison."
    return change, f"For {name} that is {words.compared(change, than, chart.unit)}."


def _by_chance(chart: Chart, change: Change, than: str) -> str:
    is_share = chart.view.measure == "share"
    told = words.difference(change, POINTS if is_share else chart.unit)
    said = (
        f"For {chart.labels[0]} the difference from {than} is {told}; but it may come first by "
        "chance, which would make it look larger than before."
    )
    return f"{said} {MOVED}" if is_share else said
