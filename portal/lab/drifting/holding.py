"""Released numbers held against those of the proxy data that a mechanism was fitted on.

What a mechanism was fitted for is how much devices have: kilometres and minutes of a trip, slice by
slice. The proxy's are in the calibration's provenance; those of devices now are ratios of released
numbers. Only released numbers are read, noised and with their intervals, so this is post-processing
and costs no ε. The noise of both numbers of a ratio is taken as independent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import hypot
from typing import Final

# Sizes that changed by less move errors little: a bound for one is near the best for the other.
TOLERANCE: Final = 0.25
# The share of slices whose sizes moved from which on the calibration does not fit any more.
MOST_MOVED: Final = 0.2


class Verdict(StrEnum):
    FITS = "fits"
    MOVED = "moved"
    UNKNOWN = "cannot tell"


@dataclass(frozen=True)
class Released:
    """A released number; the half-width of its interval at 95 %."""

    value: float
    half_width: float


@dataclass(frozen=True)
class Held:
    """One metric per event of one slice, then and now."""

    slice: str
    metric: str
    proxy: float
    now: float | None
    # As a share of the proxy's, with half an interval.
    change: float | None
    half_width: float | None

    @property
    def verdict(self) -> Verdict:
        if self.change is None or self.half_width is None:
            return Verdict.UNKNOWN
        if abs(self.change) - self.half_width > TOLERANCE:
            return Verdict.MOVED
        return Verdict.FITS if abs(self.change) + self.half_width <= TOLERANCE else Verdict.UNKNOWN


# By slice and metric; nothing where a number is suppressed.
Numbers = Mapping[tuple[str, str], Released]
PerEvent = Mapping[str, Mapping[str, float]]


def held_against(proxy: PerEvent, numbers: Numbers) -> list[Held]:
    """Every metric of every slice but the one that counts events."""
    return list(_held(proxy, numbers))


def verdict_of(held: list[Held]) -> Verdict:
    """Of the calibration as a whole, from those that can be told."""
    told = [one for one in held if one.verdict is not Verdict.UNKNOWN]
    if not told:
        return Verdict.UNKNOWN
    moved = sum(one.verdict is Verdict.MOVED for one in told)
    return Verdict.MOVED if moved / len(told) > MOST_MOVED else Verdict.FITS


def count_metric(proxy: PerEvent) -> str:
    """The metric of which every event has one; empty if none is so."""
    names = next(iter(proxy.values()), {})
    return next((n for n in names if all(row.get(n) == 1.0 for row in proxy.values())), "")


def _held(proxy: PerEvent, numbers: Numbers) -> Iterator[Held]:
    count = count_metric(proxy)
    for name, row in proxy.items():
        for metric, then in row.items():
            if metric != count and then > 0:
                events, total = numbers.get((name, count)), numbers.get((name, metric))
                yield _one(name, metric, then, events, total)


def _one(
    name: str, metric: str, then: float, events: Released | None, total: Released | None
) -> Held:
    if events is None or total is None or events.value <= 0 or total.value <= 0:
        return Held(name, metric, then, None, None, None)
    now = total.value / events.value
    width = hypot(events.half_width / events.value, total.half_width / total.value)
    return Held(name, metric, then, now, now / then - 1, now / then * width)
