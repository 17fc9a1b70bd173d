"""A living fleet: the phones of a made-up world, from now on, and the pace of a demo's clock.

The portal's simulated clock is kept by one process, this one: a week a minute until there were
three releases since its start, then one in ten. It waits for phones that cannot keep up. A speed
that somebody else set stands. Phones that were at rest go on where they were.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Final

from aggregation.clock import SimulatedClock
from aggregation.pace import CALM, DAY, QUICK, SPEEDS, WAITING, Pace
from devices_sim.fleet.driver import Driver, Parts
from devices_sim.fleet.resting import Resting
from devices_sim.fleet.source import WEEK, MadeUp, Moment
from devices_sim.fleet.world import World

# Releases come a day after their weeks.
_QUICK_RELEASES: Final = 3
# Civil seconds: phones that wait longer for their turn are waited for, until they wait this short.
_TOO_LATE, _IN_TIME = 2 * 3600.0, 1800.0


class LivingFleet(Driver):
    tell_seconds = 60.0

    def __init__(
        self, world: World, parts: Parts, *, start: float, say: Callable[[str], None] = print
    ) -> None:
        super().__init__(MadeUp(world, start=start), parts, say)
        self._clock = parts.clock if isinstance(parts.clock, SimulatedClock) else None
        weeks = max(0, math.ceil((parts.now() - world.week_0) / WEEK)) + _QUICK_RELEASES
        self._calm_from = world.week_0 + weeks * WEEK + DAY
        # When those who were at rest may next have something to do.
        self._resumed: dict[int, Moment] = {}

    def resume(self, phones: Iterable[Resting]) -> None:
        now = self.parts.now()
        for one in phones:
            state = self.lives.resume(one)
            error = self.source.unusual(one.number).clock_error
            hint = state.hint[1] - error if state.hint else -math.inf
            waits = bool(state.pending)
            self._resumed[one.number] = self.source.next(
                one.number, now=now, hint=hint, waits=waits
            )

    def begin(self) -> None:
        """A clock that has never run starts now; one that somebody stopped stays as it is."""
        if self._clock is not None and self._clock.is_new:
            self._clock.set_speed(self._pace.speed(self.parts.now()))

    def _first(self, number: int) -> Moment:
        return self._resumed.pop(number, None) or super()._first(number)

    def look(self) -> None:
        if self._clock is None:
            return
        now, speed = self.parts.now(), self._clock.speed
        if speed not in SPEEDS:
            return
        late = _IN_TIME if speed == WAITING else _TOO_LATE
        wanted = WAITING if self.behind_seconds > late else self._pace.speed(now)
        if wanted != speed:
            self._clock.set_speed(wanted)

    @property
    def _pace(self) -> Pace:
        return QUICK if self.parts.now() < self._calm_from else CALM
