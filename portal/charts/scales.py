"""Axes: from a number to a place on the drawing, with ticks people can read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from portal.charts.rounding import magnitude
from portal.charts.words import short


@dataclass(frozen=True)
class Axis:
    """A scale from `low`..`high` onto `first`..`last`, and the numbers written along it."""

    low: float
    high: float
    first: float
    last: float
    ticks: tuple[float, ...]
    log: bool = False

    def at(self, value: float) -> float:
        """Where a value lies; what is outside is put on the edge."""
        share = (self._measure(value) - self._measure(self.low)) / (
            self._measure(self.high) - self._measure(self.low)
        )
        return self.first + min(max(share, 0.0), 1.0) * (self.last - self.first)

    @property
    def base(self) -> float:
        """Where bars begin: zero, or the lowest power on a log axis."""
        return self.low if self.log else min(max(0.0, self.low), self.high)

    def _measure(self, value: float) -> float:
        return math.log10(max(value, self.low)) if self.log else value


def axis_for(
    values: Sequence[float], *, first: float, last: float, log: bool = False, most_ticks: int = 6
) -> Axis:
    """An axis that holds all values and, unless it is a log axis, zero; with round ticks.

    It ends where the values end, or at the next tick if that is close.
    """
    if log:
        return _log_axis([one for one in values if one > 0], first, last, most_ticks)
    low, high = min([0.0, *values]), max([0.0, *values])
    if low == high:
        high = 1.0
    step = nice_step((high - low) / most_ticks)
    low, high = -_end(-low, step), _end(high, step)
    start, end = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return Axis(low, high, first, last, tuple(step * index for index in range(start, end + 1)))


def _end(most: float, step: float) -> float:
    tick = step * math.ceil(most / step - 1e-9)
    return max(tick, most) if tick - most <= 0.4 * step else most


def tick_words(axis: Axis) -> tuple[list[str], str]:
    """What stands at the ticks, and the word for the scale that goes into the axis title."""
    if axis.log:
        return [short(tick) for tick in axis.ticks], ""
    divisor, _, word = magnitude(max(abs(axis.low), abs(axis.high)))
    return [_plain(tick / divisor) for tick in axis.ticks], word


def _log_axis(values: Sequence[float], first: float, last: float, most_ticks: int) -> Axis:
    low = math.floor(math.log10(min(values)) + 1e-9) if values else 0
    high = math.ceil(math.log10(max(values)) - 1e-9) if values else 1
    high = max(high, low + 1)
    stride = math.ceil((high - low) / most_ticks)
    high = low + stride * math.ceil((high - low) / stride)
    ticks = tuple(10.0**power for power in range(low, high + 1, stride))
    return Axis(ticks[0], ticks[-1], first, last, ticks, log=True)


def nice_step(rough: float) -> float:
    """The smallest of 1, 2, 2.5, 5 × 10ⁿ that is not below."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * one for one in (1, 2, 2.5, 5, 10) if power * one >= rough * (1 - 1e-9))


def _plain(value: float) -> str:
    """Without an exponent, however small or large."""
    written = f"{round(value, 10) + 0.0:,.10g}"
    if "e" in written:
        written = f"{value:,.10f}".rstrip("0").rstrip(".")
    return written.replace("-", "−")
