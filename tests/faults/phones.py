"""Phones over bad networks: device *i* fills cell *i* alone, so a cell of two is a double count."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any, TypeVar

from aggregation.ondevice.events import Event
from aggregation.protocol.streams import Catalog
from devices_sim.device.api_client import Busy, HttpApi, NotReached
from devices_sim.device.once_only import Answer, Queued, Stage
from devices_sim.device.phone import Phone
from devices_sim.device.state import Pending
from devices_sim.device.wake_up import WakeUp

T = TypeVar("T")
# Phones awake at a time.
AT_ONCE = 64


@dataclass
class Wire:
    """One phone's network: answers get lost on their way back, uploads arrive twice."""

    inner: HttpApi
    rng: Random
    # Shares: of all answers, and of all uploads.
    lost: float = 0.0
    twice: float = 0.0
    # Update → session, of all that a queue took, heard of or not; and how many were tried.
    queued: dict[str, str] = field(default_factory=dict)
    uploads: int = 0
    # Sealed bytes that left the phone.
    seen: list[bytes] = field(default_factory=list)
    # How often the server asked for quiet, until when it does, and requests made before that.
    sent_off: int = 0
    quiet_until: float = 0.0
    too_early: int = 0

    async def active(self, *given: Any) -> None:
        await self._heard(self.inner.active(*given))

    async def check_in(self, *given: Any) -> Any:
        return await self._heard(self.inner.check_in(*given))

    async def assignments(self, *given: Any) -> Any:
        return await self._heard(self.inner.assignments(*given))

    async def client_task(self, *given: Any) -> bytes:
        return await self._heard(self.inner.client_task(*given))

    async def status(self, **given: Any) -> Answer:
        return await self._heard(self.inner.status(**given))

    async def upload(self, **given: Any) -> Answer:
        self.seen.append(given["sealed"])
        return await self._heard(self._uploaded(**given))

    async def _uploaded(self, **given: Any) -> Answer:
        times = 2 if self.rng.random() < self.twice else 1
        self.uploads += times
        tried = (self.inner.upload(**given) for _ in range(times))
        answers = await asyncio.gather(*tried, return_exceptions=True)
        if Queued() in answers:
            self.queued[given["update"]] = given["session"]
        if isinstance(answers[-1], BaseException):
            raise answers[-1]
        return answers[-1]

    async def _heard(self, asked: Awaitable[T]) -> T:
        self.too_early += time.monotonic() < self.quiet_until
        try:
            answer = await asked
        except Busy as busy:
            self.sent_off += 1
            self.quiet_until = time.monotonic() + busy.seconds
            raise
        if self.rng.random() < self.lost:
            raise NotReached
        return answer


@dataclass
class Person:
    number: int
    phone: Phone
    wire: Wire
    events: list[Event] = field(default_factory=list)
    # What it did when it was last awake.
    did: WakeUp = field(default_factory=WakeUp)

    @property
    def on_its_way(self) -> list[Pending]:
        return self.phone.load().pending

    def has(self, kind: str) -> bool:
        """Whether the phone's own log says so: `counted`, `again`, `given_up`."""
        return any(entry.kind == kind for entry in self.phone.load().log)

    @property
    def is_quiet(self) -> bool:
        """Whether it keeps the time that a busy server asked for."""
        return self.phone.machine() < self.phone.quiet_until

    def waits_for(self) -> str | None:
        """The session whose end it awaits; nothing if there is something to do.

        It has the update in its queue, or had no queue when it was sent one.
        """
        waiting = [one for one in self.on_its_way if one.stage is not Stage.STORED]
        return waiting[0].session if waiting else None

    def travel(self, moment: datetime, catalog: Catalog) -> None:
        """One trip in the region of this phone alone, of a length that no other trip has."""
        stream = catalog.stream("trips")
        assert stream is not None
        regions = catalog.domain(stream.column("region").domain)  # type: ignore[union-attr,arg-type]
        row = {
            "region": regions[self.number],
            "country": "FR",
            "activity": "walking",
            "direction": "within",
            "distance_km": round(1 + self.wire.rng.random(), 9),
            "duration_min": 9.0,
        }
        columns = [c.name for c in stream.columns if not c.stamped and c.queryable]
        self.events = [Event(moment.timestamp(), 0, tuple(row[name] for name in columns))]
        assert self.phone.record("trips", *self.events)

    async def wake(self) -> None:
        """As if the moment had come that the server's hint drew: a test does not wait for it."""
        state = self.phone.load()
        state.hint = None
        self.phone.save(state)
        self.did = await self.phone.wake_up()


async def wake(people: Iterable[Person]) -> None:
    """All of them once; a phone that keeps quiet does so."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(person: Person) -> None:
        async with turns:
            await person.wake()

    await asyncio.gather(*(one(person) for person in people if not person.is_quiet))
