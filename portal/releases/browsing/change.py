"""The difference of two released numbers, with an interval of its own.

Windows and cells draw their noise apart, so the squares of their half-widths add. For Laplace noise
that is a little wider than it need be (4.24 scales against 4.11 for two equal ones). What clipping
moves is alike in two windows and partly cancels, which makes it wider still: a change that is
called clear is clear.

The difference is that of the two numbers as they are written beside it, so that whoever subtracts
them finds it. They are written to a tenth of their half-width or less; where so little decides
what is clear, the difference stays as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from portal.charts.rounding import places_of, rounded
from portal.releases.browsing import dividing
from portal.releases.reading import Number


@dataclass(frozen=True)
class Change:
    difference: float
    half_width: float
    # Of the earlier number; nothing where that is not above its own noise.
    percent: float | None
    # Both ends of that percentage; nothing where it would have no end.
    percent_ends: tuple[float, float] | None = None

    @classmethod
    def between(cls, before: Number, now: Number, *, opposed: bool = False) -> Change | None:
        """Nothing where one of the two is not shown. Errors that may go against each other, as
        those of two shares of one whole do, add up."""
        if before.value is None or now.value is None:
            return None
        difference = now.value - before.value
        base = before.value if before.value > (before.half_width or 0.0) else None
        widths = (before.half_width or 0.0, now.half_width or 0.0)
        half_width = sum(widths) if opposed else math.hypot(*widths)
        ends = dividing.apart(now, before) if base else None
        return cls(
            difference=_as_written(before, now, half_width),
            half_width=half_width,
            percent=100 * difference / base if base else None,
            percent_ends=(100 * (ends[0] - 1), 100 * (ends[1] - 1)) if ends else None,
        )

    @property
    def percent_half_width(self) -> float | None:
        """The longer side of the percentage."""
        return dividing.longer(self.percent_ends, self.percent or 0.0)

    @property
    def is_clear(self) -> bool:
        """Whether it is larger than the noise."""
        return abs(self.difference) > self.half_width

    @property
    def direction(self) -> str:
        if not self.is_clear:
            return "same"
        return "more" if self.difference > 0 else "less"


def _as_written(before: Number, now: Number, half_width: float) -> float:
    exact = (now.value or 0.0) - (before.value or 0.0)
    written = _rounded(now) - _rounded(before)
    is_alike = (abs(written) > half_width) == (abs(exact) > half_width)
    return written if is_alike else exact


def _rounded(number: Number) -> float:
    half_width = number.half_width or 0.0
    value = number.value or 0.0
    return rounded(value, places_of(half_width)) if half_width else value
