"""The places and countries of a map: their numbers, and what their colours say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from portal.charts import Mark, Shade
from portal.releases.browsing.change import Change
from portal.releases.browsing.tables import Found
from portal.releases.reading import Number
from portal.streams import geography

# Intervals are of 95 %: so large a part of what did not change is beyond them.
_BY_CHANCE: Final = 0.05


@dataclass(frozen=True)
class Spot:
    """A place or country of the map, as its table says it."""

    id: str
    name: str
    number: Number
    suppressed: str
    href: str
    place: geography.Place | None = None
    # What its colour is about: a share in percent or an amount per inhabitant, or the number of the
    # window before.
    measure: Number | None = None
    # The values that a share is of together; empty where it is of all.
    among: tuple[str, ...] = ()
    before: Number | None = None

    @classmethod
    def of(
        cls, id: str, name: str, found: Found, href: str, place: geography.Place | None = None
    ) -> Spot:
        return cls(id, name, found.number, found.suppressed, href, place)

    @property
    def full_name(self) -> str:
        """With the country: other places may be called so."""
        return f"{self.name}, {self.place.country}" if self.place else self.name

    @property
    def mark(self) -> Mark:
        return Mark(self.number.value, self.number.half_width, note=self.suppressed, href=self.href)

    @property
    def change(self) -> Change | None:
        return Change.between(self.before, self.number) if self.before else None

    @property
    def shade(self) -> Shade | None:
        """Nothing where it is not known. A change is in percent of the number before."""
        if self.measure is not None and self.measure.value is not None:
            return Shade(self.measure.value, self.measure.half_width)
        change = self.change
        if change is None or change.percent is None:
            return None
        width = math.inf if change.percent_half_width is None else change.percent_half_width
        ends = change.percent_ends
        return Shade(change.percent, width, is_noise=not change.is_clear, ends=ends)


def ordered(spots: Sequence[Spot]) -> list[Spot]:
    """For the table: the largest first, then what is not shown."""
    return sorted(spots, key=lambda s: (s.number.value is None, -(s.number.value or 0), s.name))


def alike(countries: Sequence[Spot], places: Sequence[Spot]) -> list[Spot]:
    """Countries, without shares that are of something else than those of places."""
    among = {place.among for place in places}
    if not places or {country.among for country in countries} <= among:
        return list(countries)
    return [replace(country, measure=None, among=()) for country in countries]


def told_spread(spots: Sequence[Spot]) -> str:
    """Whether any two measures differ at all."""
    known = [one.measure for one in spots if one.measure and one.measure.value is not None]
    if len(known) < 2 or _is_any_apart(known):
        return ""
    return "All of them could be the same: no two differ by more than the noise."


def _is_any_apart(numbers: Sequence[Number]) -> bool:
    """As `Change.is_clear` has it, for each with all others: there may be two thousand."""
    values = np.array([one.value for one in numbers], dtype=float)
    widths = np.array([one.half_width or 0.0 for one in numbers])
    return any(
        (np.abs(values - value) > np.hypot(widths, width)).any()
        for value, width in zip(values, widths, strict=True)
    )


def told_changes(spots: Sequence[Spot]) -> str:
    changes = [spot.change for spot in spots if spot.number.value is not None]
    known = [change for change in changes if change is not None]
    if not known:
        return "Nothing of the window before is shown here, so there is no change to colour by."
    more, less, same = (
        sum(change.direction == one for change in known) for one in ("more", "less", "same")
    )
    chance = round(_BY_CHANCE * len(known))
    words = (
        f"Of {len(changes):,} that are shown, {more:,} grew and {less:,} shrank by more than the "
        f"noise{f' (about {chance:,} would even without any change)' if chance else ''}; "
        f"{same:,} changed within the noise"
    )
    missing = len(changes) - len(known)
    return f"{words}; {missing:,} had nothing shown before." if missing else f"{words}."
