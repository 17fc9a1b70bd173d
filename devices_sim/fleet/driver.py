"""The driver: many phones at once, each the real program over real HTTP, and otherwise at rest.

It owns the phones, the clock and the network; what happens to a phone comes from its source. A
phone is made at its first wake-up, as it would have been at its install; it is handed what happened
since the last one, and is then left to its runtime. While the server is away nobody asks but one
phone now and then: no herd waits at the door. Which phone is whose is known here alone.
"""

from __future__ import annotations

import asyncio
import gc
import heapq
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Final

from aggregation.clock import Clock
from aggregation.protocol.streams import Catalog
from devices_sim.device.api_client import DeviceApi
from devices_sim.device.conditions import Conditions
from devices_sim.device.verification import Pins
from devices_sim.device.wake_up import BUSY, NO_ANSWER, WakeUp
from devices_sim.fleet.lives import Life, Lives
from devices_sim.fleet.report import Report
from devices_sim.fleet.source import HOUR, Moment, Source

# Objects made between two looks for rubbish.
_RUBBISH: Final = 50_000
# Machine seconds between looks at the clock.
_LOOK_SECONDS: Final = 0.05
# Phones without an answer, one after the other, that make a server that is away.
_NO_ANSWERS: Final = 8
# Machine seconds for which it is left alone, longer each time.
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


def settle_memory() -> None:
    """For a process full of phones: they leave little rubbish, and there are many to look at."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_RUBBISH, 20, 100)


@dataclass(frozen=True)
class Parts:
    """What all phones of a fleet share."""

    catalog: Catalog
    pins: Pins
    api: DeviceApi
    clock: Clock
    rng: Random

    def now(self) -> float:
        return self.clock.now().timestamp()


class Driver:
    """Drives the phones; `report` is true at any moment."""

    # Machine seconds between lines of progress.
    tell_seconds = 5.0
    # Wake-ups under way at a time.
    at_once = 64

    def __init__(self, source: Source, parts: Parts, say: Callable[[str], None] = print) -> None:
        self.source, self.parts, self.say = source, parts, say
        self.report = Report(phones=source.phones)
        self.lives = Lives(source, parts, self.report)
        # When which phone is looked at next, and in which conditions it will be.
        self._queue: list[tuple[float, int, Conditions | None]] = []
        self._room = asyncio.Semaphore(self.at_once)
        self._no_answers, self._pause, self._quiet_until = 0, 0.0, 0.0

    async def run(self) -> None:
        """Until it is over, which most fleets never are."""
        self._fill(range(self.source.phones))
        told = time.monotonic()
        async with asyncio.TaskGroup() as group:
            while not self.is_over():
                self.look()
                await self._wake_due(group)
                if time.monotonic() > told + self.tell_seconds:
                    told = time.monotonic()
                    self.say(self.progress())
                await asyncio.sleep(0 if self.behind_seconds > 0 else _LOOK_SECONDS)
        self.say(self.progress())

    async def catch_up(self) -> None:
        """Wake all whose time has come, however long it takes: for a clock that waits for them."""
        now = self.parts.now()

        async def turns() -> None:
            while self._queue and self._queue[0][0] <= now:
                _, number, conditions = heapq.heappop(self._queue)
                await self._take_turn(number, conditions)

        async with asyncio.TaskGroup() as group:
            for _ in range(self.at_once):
                group.create_task(turns())

    @property
    def next_due(self) -> float:
        """The civil moment at which a phone is looked at next."""
        return self._queue[0][0] if self._queue else math.inf

    # For a fleet that ends, or that has more to look after

    def is_over(self) -> bool:
        return False

    def look(self) -> None:
        """Called many times a second."""

    def noticed(self, number: int, did: WakeUp, now: float) -> None:
        """Called after each wake-up."""

    def hint(self, number: int) -> float:
        """When a phone that was at rest may come back; most drivers need not know."""
        return -math.inf

    def progress(self) -> str:
        report = self.report
        return (
            f"{self.parts.clock.now():%Y-%m-%d %H:%M} UTC: {report.wake_ups:,} wake-ups, "
            f"{report.sent:,} updates sent by {report.phones:,} phones{report.trouble()}"
        )

    @property
    def behind_seconds(self) -> float:
        """For how long, in civil time, the next phone has waited for its turn."""
        return self.parts.now() - self._queue[0][0] if self._queue else 0.0

    async def _wake_due(self, group: asyncio.TaskGroup) -> None:
        """Those whose time has come, until it is time to look up again."""
        now, until = self.parts.now(), time.monotonic() + _LOOK_SECONDS
        while self._queue and self._queue[0][0] <= now and time.monotonic() < until:
            if self._pause:
                await self._try_again()
                return
            _, number, conditions = heapq.heappop(self._queue)
            await self._room.acquire()
            turn = group.create_task(self._take_turn(number, conditions))
            turn.add_done_callback(lambda _: self._room.release())

    async def _try_again(self) -> None:
        """One phone finds out whether the server is there again."""
        if time.monotonic() < self._quiet_until:
            return
        pause = self._pause
        _, number, conditions = heapq.heappop(self._queue)
        await self._take_turn(number, conditions)
        if self._pause:
            self._leave_alone(min(2 * pause, _LONGEST_PAUSE))

    async def _take_turn(self, number: int, conditions: Conditions | None) -> None:
        now = self.parts.now()
        if conditions is None:
            moment = self.source.next(number, now=now, hint=self.hint(number), waits=False)
        else:
            life, did = await self.lives.wake(number, conditions, now)
            self.noticed(number, did, now)
            moment = self._rest(number, life, did, conditions, now)
        heapq.heappush(self._queue, self._looked_at(number, moment))

    def _fill(self, numbers: Iterable[int]) -> None:
        self._queue = [self._looked_at(n, self._first(n)) for n in numbers]
        heapq.heapify(self._queue)

    def _first(self, number: int) -> Moment:
        """Looked at when it is installed."""
        return Moment(self.source.installed(number), None)

    def _rest(
        self, number: int, life: Life, did: WakeUp, conditions: Conditions, now: float
    ) -> Moment:
        if did.stopped == NO_ANSWER:
            self._no_answers += 1
            if not self._pause and self._no_answers >= _NO_ANSWERS:
                self._leave_alone(_SHORTEST_PAUSE)
            return Moment(now + self.parts.rng.uniform(HOUR / 4, HOUR), conditions)
        if did.checked_in or did.meter.down:
            self._no_answers, self._pause = 0, 0.0
        if did.stopped == BUSY:
            return Moment(now + life.quiet_seconds * self._speed, conditions)
        hint = did.not_before - self.source.unusual(number).clock_error
        return self.source.next(number, now=now, hint=hint, waits=did.on_their_way > 0)

    def _leave_alone(self, seconds: float) -> None:
        self._pause = seconds
        self._quiet_until = time.monotonic() + seconds * self.parts.rng.uniform(0.5, 1.5)

    @property
    def _speed(self) -> float:
        """Civil seconds per machine second."""
        return float(getattr(self.parts.clock, "speed", 1.0))

    @staticmethod
    def _looked_at(number: int, moment: Moment) -> tuple[float, int, Conditions | None]:
        # Numbers differ, so conditions are never compared.
        return moment.due, number, moment.conditions
