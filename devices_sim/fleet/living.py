"""A living fleet: the phones of a made-up world, from now on, and the pace of a demo's clock.

The portal's simulated clock is kept by one process, this one: a week a minute until these phones
have had three releases, then one in ten. It waits for phones that cannot keep up. A speed that
somebody else set stands. Whenever this process starts again, its phones are new installs, and the
first releases come quickly again; nothing else needs to be remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from aggregation.clock import SimulatedClock
from aggregation.pace import CALM, DAY, QUICK, SPEEDS, WAITING, Pace
from devices_sim.fleet.driver import Driver, Parts
from devices_sim.fleet.source import WEEK, MadeUp
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
        self._calm_from = world.week_0 + _QUICK_RELEASES * WEEK + DAY

    def begin(self) -> None:
        """A clock that has never run starts now; one that somebody stopped stays as it is."""
        if self._clock is not None and self._clock.is_new:
            self._clock.set_speed(self._pace.speed(self.parts.now()))

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
