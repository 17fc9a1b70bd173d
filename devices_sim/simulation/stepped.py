"""A fleet that lives from hour to hour: as long as it takes, and no longer.

A phone that has sent all there is gets only the last moment of its week, to hear how it fared: in
the others it would find nothing to do. Reach is the same, and the quicker for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from devices_sim.device.conditions import Conditions
from devices_sim.device.wake_up import WakeUp
from devices_sim.fleet.driver import Driver, Parts
from devices_sim.fleet.lives import Life
from devices_sim.fleet.source import WEEK, MadeUp, Moment
from devices_sim.fleet.world import World
from devices_sim.simulation.ledger import Ledger

_HOUR = 3600.0


class SteppedFleet(Driver):
    """Some phones of a world; `step` brings them to the clock's time."""

    def __init__(
        self, world: World, parts: Parts, *, start: float, numbers: Iterable[int], tasks: int
    ) -> None:
        super().__init__(MadeUp(world, start=start), parts, say=lambda line: None)
        self._world, self._tasks = world, tasks
        self.ledger = Ledger()
        # When each phone may come back, and what it sent in which week.
        self._hints: dict[int, float] = {}
        self._sent: dict[int, tuple[int, int]] = {}
        self._fill(numbers)
        self.report.phones = len(self._queue)

    def hint(self, number: int) -> float:
        return self._hints.get(number, -math.inf)

    def noticed(self, number: int, did: WakeUp, now: float) -> None:
        week = self._week(now)
        asked = max(self.hint(number), self._world.week_0 + week * WEEK)
        for sent in did.sent:
            for window in sent.windows:
                hours = (now - asked) / _HOUR
                self.ledger.note((sent.task, window), phone=number, update=sent.update, hours=hours)
        if did.sent:
            before = self._sent.get(number, (week, 0))
            times = before[1] if before[0] == week else 0
            self._sent[number] = (week, times + len(did.sent))
        if did.not_before > -math.inf:
            self._hints[number] = did.not_before - self.source.unusual(number).clock_error

    def _rest(
        self, number: int, life: Life, did: WakeUp, conditions: Conditions, now: float
    ) -> Moment:
        moment = super()._rest(number, life, did, conditions, now)
        if self._sent.get(number) != (self._week(now), self._tasks):
            return moment
        end = self._world.week_0 + (self._week(now) + 1) * WEEK
        last = self._world.wake_ups(number, now, end)[-1:]
        if did.on_their_way and last and last[0][0] > now:
            return Moment(*last[0])
        return Moment(end, None)

    def _week(self, now: float) -> int:
        return int((now - self._world.week_0) // WEEK)
