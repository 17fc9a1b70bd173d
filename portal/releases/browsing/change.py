"""The difference of two released numbers, with an interval of its own.

Windows and cells draw their noise apart, so the squares of their half-widths add. For Laplace noise
that is a little wider than it need be (4.24 scales against 4.11 for two equal ones). What clipping
moves is alike in two windows and partly cancels, which makes it wider still: a change that is
called clear is clear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from portal.releases.browsing import dividing
from portal.releases.reading import Number


@dataclass(frozen=True)
class Change:
    difference: float
    half_width: float
    # Of the earlier number; nothing where that is not above its own noise.
    percent: float | None
    # Of that percentage; nothing where it would have no end.
    percent_half_width: float | None = None

    @classmethod
    def between(cls, before: Number, now: Number, *, opposed: bool = False) -> Change | None:
        """Nothing where one of the two is not shown. Errors that may go against each other, as
        those of two shares of one whole do, add up."""
        if before.value is None or now.value is None:
            return None
        difference = now.value - before.value
        base = before.value if before.value > (before.half_width or 0.0) else None
        widths = (before.half_width or 0.0, now.half_width or 0.0)
        reach = dividing.apart(now, before) if base else None
        return cls(
            difference=difference,
            half_width=sum(widths) if opposed else math.hypot(*widths),
            percent=100 * difference / base if base else None,
            percent_half_width=None if reach is None else 100 * reach,
        )

    @property
    def is_clear(self) -> bool:
        """Whether it is larger than the noise."""
        return abs(self.difference) > self.half_width

    @property
    def direction(self) -> str:
        if not self.is_clear:
            return "same"
        return "more" if self.difference > 0 else "less"
