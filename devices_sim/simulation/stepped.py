"""A fleet that lives from hour to hour: as long as it takes, and no longer.

Moments in which a phone could do nothing are left out: without network or battery, in use, or all
but the last of a week in which it has sent all there is, when it still wants to hear how that
fared. Reach is the same, and the quicker for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from devices_sim.device.conditions import Conditions
from devices_sim.device.wake_up import Settled, WakeUp
from devices_sim.fleet.driver import Driver, Parts
from devices_sim.fleet.lives import Life
from devices_sim.fleet.source import WEEK, MadeUp, Moment
from devices_sim.fleet.world import World
from devices_sim.simulation.ledger import Ledger

_HOUR = 3600.0


def is_good(conditions: Conditions) -> bool:
    return conditions.idle and not conditions.missing


class GoodMoments(MadeUp):
    """Only those in which something can be done."""

    wanted = staticmethod(is_good)


class SteppedFleet(Driver):
    """Some phones of a world; `step` brings them to the clock's time."""

    # Nobody waits for the hour to be over but others of it: the more go together, the cheaper.
    at_once = 128

    def __init__(
        self, world: World, parts: Parts, *, start: float, numbers: Iterable[int], tasks: int
    ) -> None:
        super().__init__(GoodMoments(world, start=start), parts, say=lambda line: None)
        self._world, self._tasks = world, tasks
        self.ledger = Ledger()
        # When each phone may come back, and what it sent in which week.
        self._hints: dict[int, float] = {}
        self._asked: dict[int, tuple[int, float]] = {}
        self._sent: dict[int, tuple[int, int]] = {}
        self._fill(numbers)
        self.report.phones = len(self._queue)

    def hint(self, number: int) -> float:
        return self._hints.get(number, -math.inf)

    def noticed(self, number: int, did: WakeUp, now: float) -> None:
        week, hours = self._week(now), (now - self._first_asked(number, now)) / _HOUR
        new = {sent.update for sent in did.sent}
        self._heard(number, [known for known in did.settled if known.update not in new])
        for sent in did.sent:
            for window in sent.windows:
                key = (sent.task, window)
                self.ledger.note(key, phone=number, update=sent.update, hours=hours)
        self._heard(number, [known for known in did.settled if known.update in new])
        if did.sent or did.settled:
            before = self._sent.get(number, (week, 0))
            times = before[1] if before[0] == week else 0
            # What has to be sent again is not sent.
            back = sum(bool(known.outcome.again) for known in did.settled)
            self._sent[number] = (week, max(0, times + len(did.sent) - back))
        if did.not_before > -math.inf:
            self._hints[number] = did.not_before - self.source.unusual(number).clock_error

    def _heard(self, number: int, settled: Iterable[Settled]) -> None:
        for known in settled:
            self.ledger.heard(known.task, known.outcome, phone=number)

    def _rest(
        self, number: int, life: Life, did: WakeUp, conditions: Conditions, now: float
    ) -> Moment:
        if self._sent.get(number) != (self._week(now), self._tasks):
            return super()._rest(number, life, did, conditions, now)
        end = self._world.week_0 + (self._week(now) + 1) * WEEK
        if not did.on_their_way:
            return Moment(end, None)
        good = [m for m in self._world.wake_ups(number, now, end) if is_good(m[1]) and m[0] > now]
        return Moment(*good[-1]) if good else Moment(end, None)

    def _first_asked(self, number: int, now: float) -> float:
        """From when on the server wanted to hear from it this week, before it said so again."""
        week = self._week(now)
        if self._asked.get(number, (None, 0.0))[0] != week:
            begins = self._world.week_0 + week * WEEK
            self._asked[number] = (week, max(self.hint(number), begins))
        return self._asked[number][1]

    def _week(self, now: float) -> int:
        return int((now - self._world.week_0) // WEEK)
