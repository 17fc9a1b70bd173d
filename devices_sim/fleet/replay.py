"""Replay: recorded events as if each device id were a phone, through the phones' real program.

A phone is given its events as the portal's civil clock comes to them, wakes up when the server's
hint says so, and is otherwise at rest. Which device a phone stands for is known to this process
alone: to the server it is a phone like any other.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Final

import msgspec

from aggregation.clock import Clock
from aggregation.errors import Problem
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit, Window
from devices_sim.device.api_client import HttpApi
from devices_sim.device.http import Http, NoReply
from devices_sim.device.phone import Phone
from devices_sim.device.storage import MemoryStorage
from devices_sim.device.verification import Pins
from devices_sim.device.wake_up import NO_ANSWER, WakeUp
from devices_sim.fleet.recording import Recording
from devices_sim.fleet.report import Report

_HOUR: Final = 3600.0
_DAY: Final = 24 * _HOUR
_WEEK: Final = 7 * _DAY
# Wake-ups under way at a time.
_AT_ONCE: Final = 64
# Machine seconds between looks at the clock, and to leave a server alone that did not answer.
_LOOK_SECONDS: Final = 0.05
_PINS_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 1.0
# Lines of its own log that each phone keeps.
_LOG_ENTRIES: Final = 8
# Machine seconds between lines of progress.
_TELL_SECONDS: Final = 5.0
# Machine seconds in which the server surely takes note, by a heartbeat, that windows ended: before
# that, no phone is taken to be done.
NOTICED_SECONDS = 15.0


async def replay(
    recording: Recording,
    *,
    stream: str,
    url: str,
    catalog: Catalog,
    clock: Clock,
    rng: Random,
    population: str,
    weeks_moved: int,
    linger_days: int,
    say: Callable[[str], None],
    installed: Callable[[], None],
) -> Report:
    """Replay against the portal at this address, and tell the report, also when stopped early.

    `installed` is called once all phones have started, before the first wakes up.
    """
    async with Http(url) as http:
        pins, api = await pins_of(http, url), HttpApi(http)

        def make_phone() -> Phone:
            storage = MemoryStorage()
            parts = (catalog, pins, api, clock, rng, population)
            return Phone(storage, *parts, log_entries=_LOG_ENTRIES)

        driver = Replay(recording, stream, make_phone, clock, rng, weeks_moved, linger_days, say)
        try:
            driver.install()
            installed()
            await driver.run()
        finally:
            for line in driver.report.lines():
                say(line)
        return driver.report


async def pins_of(http: Http, url: str) -> Pins:
    """The keys the portal publishes. A real phone is delivered with them; this one trusts."""
    try:
        async with asyncio.timeout(_PINS_SECONDS):
            reply = await http.ask("GET", "/api/v1/device-keys")
        keys = msgspec.json.decode(reply.body, type=dict[str, str])
        return Pins.of(approval=keys["approval"], worker=keys["worker"])
    except (NoReply, TimeoutError, ValueError, KeyError, Problem):
        raise Problem(
            f"No portal answers at {url} with the keys that phones pin.",
            hint="Start it with `make run`, or name another address with --url.",
        ) from None


def weeks_to_move(first: float, now: float) -> int:
    """By how many whole weeks events move, so that the first lies in a week that begins later.

    Phones run only windows that begin after their first start. Hours and weekdays stay.
    """
    monday = Window.containing(datetime.fromtimestamp(now, UTC), Unit.WEEK).end.timestamp()
    return max(0, -int((first - monday) // _WEEK))


@dataclass
class Life:
    """What the driver knows about one phone."""

    phone: Phone
    # Its next wake-up, in civil seconds since 1970.
    due: float
    # How many of its events it has been given.
    seen: int = 0
    # Updates sent since the last ones were settled, and the traffic with them.
    updates: int = 0
    up: int = 0
    down: int = 0
    on_their_way: int = 0
    # It has nothing more to send, and nothing on its way.
    is_done: bool = False


@dataclass
class Replay:
    """Drives the phones; `report` is true at any moment."""

    recording: Recording
    stream: str
    make_phone: Callable[[], Phone]
    clock: Clock
    rng: Random
    weeks_moved: int = 0
    # Civil days after the last event's week in which late windows may still be sent.
    linger_days: int = 8
    say: Callable[[str], None] = print
    report: Report = field(default_factory=Report)

    def __post_init__(self) -> None:
        self._shift = self.weeks_moved * _WEEK
        last = datetime.fromtimestamp(self.recording.last + self._shift, UTC)
        self._all_complete = Window.containing(last, Unit.WEEK).end.timestamp()
        # Machine time from which on a phone that finds nothing to do is done.
        self._noticed: float | None = None
        self._lives: list[Life] = []

    def install(self) -> None:
        """All phones at once, and their owners agree; their first wake-ups are spread."""
        now = self._now()
        for _ in range(self.recording.devices):
            life = Life(self.make_phone(), now + self.rng.uniform(0, 6 * _HOUR))
            life.phone.set_consent(self.stream, True)
            self._lives.append(life)
        self.report.phones = len(self._lives)

    async def run(self) -> None:
        """Until every phone has nothing more to send, or the time to linger is over."""
        queue = [(life.due, number) for number, life in enumerate(self._lives)]
        heapq.heapify(queue)
        told = time.monotonic()
        while not self._is_over():
            due = _popped(queue, self._now())
            for chunk in _chunks(due, _AT_ONCE):
                await asyncio.gather(*(self._wake(number) for number in chunk))
                for number in chunk:
                    heapq.heappush(queue, (self._lives[number].due, number))
            if time.monotonic() > told + _TELL_SECONDS:
                told = time.monotonic()
                self._tell()
            await asyncio.sleep(0 if due else _LOOK_SECONDS)
        self._tell()

    async def _wake(self, number: int) -> None:
        life, now = self._lives[number], self._now()
        events = self.recording.due(number, life.seen, now, shift=self._shift)
        kept = life.phone.record(self.stream, *events)
        life.seen += len(events)
        self.report.events += len(events)
        self.report.dropped += len(events) - kept
        did = await life.phone.wake_up()
        self._account(life, did)
        life.is_done = not did.sent and (life.is_done or self._has_nothing_to_send(did, now))
        life.due = self._next(did, now)
        if did.stopped == NO_ANSWER:
            await asyncio.sleep(_PAUSE_SECONDS)

    def _account(self, life: Life, did: WakeUp) -> None:
        self.report.add(did)
        self.report.on_their_way += did.on_their_way - life.on_their_way
        life.on_their_way = did.on_their_way
        life.updates += len(did.sent)
        if not life.updates:
            return  # nothing to do this time: no query's traffic
        life.up += did.meter.up
        life.down += did.meter.down
        if not did.on_their_way:
            self.report.up += [life.up // life.updates] * life.updates
            self.report.down += [life.down // life.updates] * life.updates
            life.up = life.down = life.updates = 0

    def _has_nothing_to_send(self, did: WakeUp, now: float) -> bool:
        if now < self._all_complete:
            return False
        if self._noticed is None:
            self._noticed = time.monotonic() + NOTICED_SECONDS
        is_idle = did.checked_in and not (did.sent or did.turned_away or did.on_their_way)
        return is_idle and time.monotonic() > self._noticed

    def _next(self, did: WakeUp, now: float) -> float:
        """At the server's hint; earlier to ask after an update on its way, or where it was away."""
        soon = now + self.rng.uniform(_HOUR / 4, _HOUR)
        moment = did.not_before if did.not_before > now and did.stopped != NO_ANSWER else soon
        if did.on_their_way:
            moment = min(moment, now + self.rng.uniform(_HOUR, 12 * _HOUR))
        return moment

    def _is_over(self) -> bool:
        if self._now() > self._all_complete + self.linger_days * _DAY:
            return True
        return all(life.is_done for life in self._lives)

    def _now(self) -> float:
        return self.clock.now().timestamp()

    def _tell(self) -> None:
        report, done = self.report, sum(life.is_done for life in self._lives)
        self.say(
            f"{self.clock.now():%Y-%m-%d %H:%M} UTC: "
            f"{self.recording.until(self._now() - self._shift):,} of {len(self.recording):,} "
            f"events, {report.sent:,} updates sent, {report.counted:,} windows counted, "
            f"{done:,} of {report.phones:,} phones done"
        )


def _popped(queue: list[tuple[float, int]], now: float) -> list[int]:
    found = []
    while queue and queue[0][0] <= now:
        found.append(heapq.heappop(queue)[1])
    return found


def _chunks(numbers: list[int], size: int) -> Iterable[list[int]]:
    return (numbers[start : start + size] for start in range(0, len(numbers), size))
