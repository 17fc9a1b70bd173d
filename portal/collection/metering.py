"""How much a session has had to do lately: sums that fade with a time constant of a few seconds.

Exact, so for the control loop only.
"""

import math
from dataclasses import dataclass, field

FADES_SECONDS = 5.0


@dataclass
class Fading:
    """A rate. Machine seconds come from the caller's monotonic clock."""

    _sum: float = 0.0
    _at: float = 0.0

    def note(self, amount: float, *, now: float) -> None:
        self._sum, self._at = self._left(now) + amount, max(now, self._at)

    def per_second(self, now: float) -> float:
        return self._left(now) / FADES_SECONDS

    def _left(self, now: float) -> float:
        return self._sum * math.exp(-max(0.0, now - self._at) / FADES_SECONDS)


@dataclass
class Meters:
    """Of one session: what comes to its queue, what it accepts, and how long that takes it."""

    arriving: Fading = field(default_factory=Fading)
    accepting: Fading = field(default_factory=Fading)
    working: Fading = field(default_factory=Fading)
    _taken: int = 0
    _arrived: int = 0

    def took(self, count: int, *, accepted: int, seconds: float, now: float) -> None:
        """So many updates were taken from the queue, in so many seconds of work."""
        self._taken += count
        self.accepting.note(accepted, now=now)
        self.working.note(seconds, now=now)

    def found_queued(self, queued: int, *, now: float) -> None:
        """What was taken and what waits is what has arrived, less what an emptied queue lost."""
        arrived = self._taken + queued
        self.arriving.note(max(0, arrived - self._arrived), now=now)
        self._arrived = max(arrived, self._taken)

    def said(self, now: float) -> dict[str, float]:
        """Updates a second, and from 0 to 1 the share of its time at work."""
        return {
            "arriving": round(self.arriving.per_second(now), 3),
            "accepting": round(self.accepting.per_second(now), 3),
            "busy": round(min(1.0, self.working.per_second(now)), 6),
        }
