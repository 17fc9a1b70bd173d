"""Colours in steps with round limits: a reader can tell from the legend what a colour means."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from portal.charts.rounding import places_of, written
from portal.charts.scales import nice_step
from portal.charts.words import short

STEPS = 7


@dataclass(frozen=True)
class Ramp:
    """Which of the seven colours a value has; `limits` lie between one colour and the next."""

    limits: tuple[float, ...]
    # Two hues that part at zero, instead of one from light to dark.
    diverging: bool = False
    # Stands behind each limit of the legend.
    sign: str = ""
    # What stands beside a colour that is the only one: `6.7 to 9.1 %`.
    range: str = ""

    def colour(self, value: float) -> str:
        """The class of a mark of this value."""
        return self.colours[bisect_right(self.limits, value)]

    @cached_property
    def colours(self) -> list[str]:
        """One for each step, spread over the whole ramp where there are fewer steps."""
        kind, steps = ("d" if self.diverging else "q"), len(self.limits) + 1
        spread = [round(1 + i * (STEPS - 1) / max(steps - 1, 1)) for i in range(steps)]
        return [f"{kind}{one}" for one in (spread if steps > 1 else [5])]

    @property
    def words(self) -> list[str]:
        return [f"{short(one)} {self.sign}".strip() for one in self.limits]


def ramp_for(
    values: Sequence[float], *, diverging: bool = False, sign: str = "", least: float = 0.0
) -> Ramp:
    """Even steps; steps of 1, 2, 5, 10 … where the values span more than a factor of 30.

    No even step is smaller than `least`, the usual half-width: colours part nothing that noise
    could have parted.
    """
    # The half-width of a difference is that of both numbers together.
    if not values or (max(values) - min(values) <= 1.5 * least and not diverging):
        return Ramp((), diverging, sign, _range(values, sign, least))
    if diverging:
        sizes = sorted(abs(one) for one in values)
        # A few extremes should not leave all others without colour.
        return Ramp(_around_zero(sizes[math.ceil(0.95 * len(sizes)) - 1]), True, sign)
    low, high = min(values), max(values)
    wide = low > 0 and high / low > 30
    return Ramp(_growing(low, high) if wide else _even(low, high, least), False, sign)


def _range(values: Sequence[float], sign: str, least: float) -> str:
    if not values:
        return ""
    places = places_of(least) if least else 0
    ends = dict.fromkeys(written(one, places) for one in (min(values), max(values)))
    return f"{' to '.join(ends)} {sign}".strip()


def _around_zero(most: float) -> tuple[float, ...]:
    step = nice_step(most / 4) if most else 1.0
    return tuple(step * count for count in (-3, -2, -1, 1, 2, 3))


def _even(low: float, high: float, least: float) -> tuple[float, ...]:
    step = nice_step(max((high - low) / (STEPS - 0.5), least))
    first = math.floor(low / step) + 1
    limits = [step * index for index in range(first, first + STEPS - 1)]
    return tuple(one for one in limits if low < one <= high)


def _growing(low: float, high: float) -> tuple[float, ...]:
    """As fine as seven colours allow: 1, 2, 5, 10, or tens, or hundreds."""
    for factors in ((1, 2, 5), (1, 3), (1,)):
        limits = [factor * 10.0**power for power in _powers(low, high) for factor in factors]
        inside = [one for one in limits if low < one <= high]
        if len(inside) < STEPS:
            return tuple(inside)
    return tuple(inside[-(STEPS - 1) :])


def _powers(low: float, high: float) -> range:
    return range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
