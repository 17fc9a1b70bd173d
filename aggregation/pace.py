"""Pace: how a simulated week is spread over real time, so that it can be watched.

Phones send a week's windows on the day after it: that day gets half of the time. The speed depends
on the civil moment alone, so whoever knows the pace can tell when a civil moment will come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

DAY: Final = 86_400.0
# 1 January 1970 was a Thursday.
_THURSDAY: Final = 3


@dataclass(frozen=True)
class Pace:
    # Real seconds of each civil day, from Monday.
    days: tuple[float, ...]

    @property
    def speeds(self) -> frozenset[float]:
        return frozenset(DAY / seconds for seconds in self.days)

    def speed(self, moment: float) -> float:
        """Civil seconds per real second at a civil moment, in seconds since 1970."""
        return DAY / self.days[int(moment // DAY + _THURSDAY) % 7]

    def real_seconds(self, start: float, end: float) -> float:
        """How long it takes from one civil moment to another."""
        return sum((b - a) / self.speed(a) for a, b in _days(start, end))


def _days(start: float, end: float) -> Iterator[tuple[float, float]]:
    while start < end:
        midnight = (start // DAY + 1) * DAY
        yield start, min(midnight, end)
        start = midnight


# A week a minute, to see the first releases soon; then one in ten.
QUICK: Final = Pace((30.0, *[5.0] * 6))
CALM: Final = Pace((300.0, *[50.0] * 6))


# Civil seconds a second, as long as phones that cannot keep up are waited for.
WAITING: Final = 60.0
SPEEDS: Final = QUICK.speeds | CALM.speeds | {WAITING}


def real_seconds(start: float, end: float, *, speed: float) -> float | None:
    """From one civil moment to another, for a clock of this speed now; nothing if it stands.

    Where a pace is kept, it goes on. How long phones are waited for nobody knows: not at all.
    """
    if speed <= 0:
        return None
    if speed == WAITING:
        return QUICK.real_seconds(start, end)
    pace = next((one for one in (QUICK, CALM) if one.speed(start) == speed), None)
    return pace.real_seconds(start, end) if pace else max(0.0, end - start) / speed
