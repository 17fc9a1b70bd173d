"""Where a fleet's people come from, and what a driver asks about them."""

from __future__ import annotations

import math
from random import Random
from typing import Final, NamedTuple, Protocol

from aggregation.ondevice.events import Event
from devices_sim.device.conditions import Conditions
from devices_sim.fleet.recording import Recording
from devices_sim.fleet.unusual import NOTHING, Unusual
from devices_sim.fleet.world import World

HOUR: Final = 3600.0
WEEK: Final = 7 * 24 * HOUR
# Background time comes in spells, such as a night on the charger: a phone that may not check in
# yet does so later in the same spell.
_SPELL_SECONDS: Final = 6 * HOUR


class Moment(NamedTuple):
    """When something may happen to a phone next, in civil seconds since 1970."""

    due: float
    # Nothing: it is only looked at again.
    conditions: Conditions | None


class Source(Protocol):
    phones: int

    def population(self, phone: int) -> str: ...

    def installed(self, phone: int) -> float: ...

    def consents(self, phone: int) -> tuple[str, ...]: ...

    def events(self, phone: int, stream: str, start: float, end: float) -> list[Event]:
        """In order of time, with start ≤ time < end."""

    def unusual(self, phone: int) -> Unusual: ...

    def next(self, phone: int, *, now: float, hint: float, waits: bool) -> Moment:
        """After `now`, and not before the server's hint unless it waits for word of an update."""


class MadeUp:
    """People of a world, from the moment at which a fleet starts."""

    def __init__(self, world: World, *, start: float) -> None:
        self._world, self._start, self.phones = world, start, world.phones
        self.population, self.consents = world.population, world.consents
        self.events, self.unusual = world.events, world.unusual

    def installed(self, phone: int) -> float:
        """Nothing is known of the time before: each phone is a new install."""
        return max(self._world.installed(phone), self._start)

    @staticmethod
    def wanted(conditions: Conditions) -> bool:
        """Whether such a moment is lived at all."""
        return True

    def next(self, phone: int, *, now: float, hint: float, waits: bool) -> Moment:
        """Within the week of the hint; a phone without background time is looked at after it."""
        world, earliest = self._world, now if waits else max(now, hint)
        end = world.week_0 + ((earliest - world.week_0) // WEEK + 1) * WEEK
        for moment, conditions in world.wake_ups(phone, earliest - _SPELL_SECONDS, end):
            if (due := max(moment, earliest)) > now and self.wanted(conditions):
                return Moment(due, conditions)
        return Moment(end, None)


class Recorded:
    """The devices of a recording: all start now, agree to its stream, and wake when they may."""

    def __init__(
        self, recording: Recording, *, stream: str, population: str, shift: float, rng: Random,
        started: float,
    ) -> None:  # fmt: skip
        self._recording, self._stream, self._population = recording, stream, population
        self._shift, self._rng, self._started = shift, rng, started
        self.phones = recording.devices

    def population(self, phone: int) -> str:
        return self._population

    def installed(self, phone: int) -> float:
        return self._started

    def consents(self, phone: int) -> tuple[str, ...]:
        return (self._stream,)

    def events(self, phone: int, stream: str, start: float, end: float) -> list[Event]:
        return self._recording.between(phone, start, end, shift=self._shift)

    def unusual(self, phone: int) -> Unusual:
        return NOTHING

    def next(self, phone: int, *, now: float, hint: float, waits: bool) -> Moment:
        """At the server's hint; earlier to ask after an update on its way. The first are spread."""
        soon = (HOUR / 4, HOUR) if hint > -math.inf else (0, 6 * HOUR)
        due = hint if hint > now else now + self._rng.uniform(*soon)
        if waits:
            due = min(due, now + self._rng.uniform(HOUR, 12 * HOUR))
        return Moment(due, _FINE)


_FINE: Final = Conditions()
