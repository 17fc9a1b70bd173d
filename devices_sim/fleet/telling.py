"""Telling: rows of a week's columns as the events that a phone records."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from aggregation.ondevice.events import Event
from aggregation.protocol.shipped import DIRECTIONS, FEATURES, OUTCOMES
from devices_sim.fleet.assistant_use import Uses
from devices_sim.fleet.people import NAMES
from devices_sim.fleet.places import Places
from devices_sim.fleet.rhythm import WEEK
from devices_sim.fleet.trips import TICK, Trips

_WITHIN, _OUTBOUND, _INBOUND = (str(name) for name in DIRECTIONS)
_FEATURES = [str(name) for name in FEATURES]
_OUTCOMES = [str(name) for name in OUTCOMES]
# As `Event(...)`, in a third of the time.
_tuple = tuple.__new__


# From the one on, before the other.
Ticks = tuple[float, float]
_TICKS = WEEK // TICK


class Telling:
    """Tells what happened in the words of the streams' domains."""

    def __init__(self, places: Places) -> None:
        self._region = places.ids
        self._country = [places.codes[rank] for rank in places.country.tolist()]
        self._ahead: list[int] = places.utc_offset.tolist()

    def trips(self, week: Trips, person: int, begins: float, ticks: Ticks) -> list[Event]:
        """A trip between two regions is two events: out of the one, and into the other."""
        rows = rows_within(week.offsets, week.time, person, ticks)
        region, country, ahead = self._region, self._country, self._ahead
        columns = (week.time, week.origin, week.destination, week.activity)
        lengths = (week.metres, week.seconds)
        found = []
        for tick, origin, goal, activity, metres, seconds in zip(
            *[column[rows].tolist() for column in (*columns, *lengths)], strict=True
        ):
            time, name, km, minutes = (
                begins + tick * TICK,
                NAMES[activity],
                metres / 1000,
                seconds / 60,
            )
            ends = ((origin, _OUTBOUND), (goal, _INBOUND))
            for place, direction in ends if origin != goal else ((origin, _WITHIN),):
                values = (region[place], country[place], name, direction, km, minutes)
                found.append(_tuple(Event, (time, ahead[place], values)))
        return found

    def uses(self, week: Uses, person: int, home: int, begins: float, ticks: Ticks) -> list[Event]:
        rows = rows_within(week.offsets, week.time, person, ticks)
        columns = (week.time, week.feature, week.outcome, week.rating, week.milliseconds)
        ahead = self._ahead[home]
        found = []
        for tick, feature, outcome, stars, latency in zip(
            *[column[rows].tolist() for column in columns], strict=True
        ):
            values = (_FEATURES[feature], _OUTCOMES[outcome], stars or None, float(latency))
            found.append(_tuple(Event, (begins + tick * TICK, ahead, values)))
        return found


def ticks_within(begins: float, start: float, end: float) -> Ticks:
    """The ticks of a week, which begins then, whose moments lie in [start, end)."""
    return -(-(start - begins) // TICK), -(-(end - begins) // TICK)


def rows_within(
    offsets: NDArray[np.int32], times: NDArray[np.uint16], person: int, ticks: Ticks
) -> slice:
    """The person's rows with times from the first tick on and before the last."""
    first, last = int(offsets[person]), int(offsets[person + 1])
    # So few that numpy's own search would take longer to begin.
    own = memoryview(times)  # type: ignore[arg-type]
    low = bisect_left(own, ticks[0], first, last) if ticks[0] > 0 else first
    if ticks[1] < _TICKS:
        last = bisect_left(own, ticks[1], low, last)
    return slice(low, last)
