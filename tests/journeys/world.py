"""A running system on a clock that stands still, and phones that live by it over bad networks."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import redis

from aggregation.clock import SimulatedClock
from aggregation.ondevice.events import Event
from aggregation.ondevice.execute import PreparedTask
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.part import Part
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit, Window
from devices_sim.device.api_client import HttpApi, Meter, NotReached
from devices_sim.device.once_only import Answer, Queued
from devices_sim.device.phone import Phone
from devices_sim.device.storage import MemoryStorage
from devices_sim.device.verification import Pins
from devices_sim.device.wake_up import WakeUp
from tests.parts import System, eventually


class World:
    """The system's clock, queue and keys, as the one who runs it has them."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.clock = SimulatedClock(system.data / "clock.json")
        self.catalog = Catalog.open(system.data / "streams")
        facts = json.loads(
            system.shell(
                "import json; from django.conf import settings;"
                "from portal.collection.keys import device_keys;"
                "print(json.dumps([settings.QUEUE_URL, device_keys()]))"
            )
        )
        self.queue = redis.Redis.from_url(facts[0])
        self.pins = Pins.of(**facts[1])

    def snapshot(self) -> dict[str, Any]:
        raw = self.queue.get("mayfly:snapshot")
        return json.loads(raw) if raw else {"at": "", "tasks": []}

    def go_to(self, moment: datetime, task: str, windows: Iterable[str]) -> None:
        """Set the clock, and wait until phones are told of these open windows, with a session."""
        self.clock.set(moment)
        wanted = list(windows)

        def told() -> bool:
            found = self.snapshot()
            offers = [t for t in found["tasks"] if t["task"] == task]
            listed = [window for offer in offers for window in offer["windows"]]
            at = datetime.fromisoformat(found["at"]) if found["at"] else None
            ready = all(offer["sessions"] for offer in offers)
            return at == moment and listed == wanted and ready

        eventually(told, log=self.system.log)

    def wait_until_taken(self) -> None:
        """Until the sessions have read all that was appended to their queues."""
        eventually(
            lambda: all(
                self.queue.llen(key) <= 1
                for key in self.queue.scan_iter(match="mayfly:session:*:updates", count=1000)
            ),
            log=self.system.log,
        )


@dataclass
class Wire:
    """One phone's network: requests and answers get lost, uploads come twice.

    What got through is kept here, as nobody but the one who simulates it can.
    """

    inner: HttpApi
    rng: Random
    loss: float = 0.15
    twice: float = 0.2
    # Before the next upload goes out.
    before_upload: Callable[[], Awaitable[None]] | None = None
    # Update id → its windows, of what was taken into a queue; and lengths of all that was tried.
    queued: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lengths: set[tuple[int, int]] = field(default_factory=set)
    seen: list[bytes] = field(default_factory=list)
    phone: Phone | None = None

    async def active(self, *given: Any) -> Any:
        return await self._tried(self.inner.active, *given)

    async def check_in(self, *given: Any) -> Any:
        return await self._tried(self.inner.check_in, *given)

    async def assignments(self, *given: Any) -> Any:
        return await self._tried(self.inner.assignments, *given)

    async def client_task(self, *given: Any) -> Any:
        return await self._tried(self.inner.client_task, *given)

    async def status(self, **given: Any) -> Any:
        return await self._tried(self.inner.status, **given)

    async def upload(self, *, sealed: bytes, **given: Any) -> Answer:
        assert self.phone is not None
        pending = [p for p in self.phone.load().pending if p.update == given["update"]]
        self.seen.append(sealed)
        self.lengths.add((len(pending[0].windows), len(sealed)))
        if self.before_upload is not None:
            await self.before_upload()
            self.before_upload = None
        if self.rng.random() < self.loss:
            raise NotReached
        answer = await self.inner.upload(sealed=sealed, **given)
        if isinstance(answer, Queued):
            self.queued[given["update"]] = pending[0].windows
        if self.rng.random() < self.twice:
            await self.inner.upload(sealed=sealed, **given)
        if self.rng.random() < self.loss:
            raise NotReached
        return answer

    async def _tried(self, call: Any, *given: Any, **named: Any) -> Any:
        if self.rng.random() < self.loss:
            raise NotReached
        answer = await call(*given, **named)
        if self.rng.random() < self.loss:
            raise NotReached
        return answer


@dataclass
class Person:
    """A phone, its network, all events it ever had, and what was sent where."""

    number: int
    phone: Phone
    wire: Wire
    events: list[Event] = field(default_factory=list)
    meters: list[Meter] = field(default_factory=list)

    async def wake(self) -> WakeUp:
        done = await self.phone.wake_up()
        if done.sent:
            self.meters.append(done.meter)
        return done

    def windows(self, kind: str) -> set[str]:
        entries = [entry for entry in self.phone.load().log if entry.kind == kind]
        return {window for entry in entries for window in entry.windows}


class People:
    """Many phones of one process, woken together."""

    def __init__(self, world: World, api: HttpApi, *, seed: int) -> None:
        self.world, self.api, self.seed = world, api, seed
        self.all: list[Person] = []

    def install(self, *, clock: Any = None, population: str = "all") -> Person:
        number = len(self.all)
        rng = Random(self.seed * 1000 + number)
        wire = Wire(self.api, rng)
        phone = Phone(
            MemoryStorage(),
            self.world.catalog,
            self.world.pins,
            wire,
            clock or self.world.clock,
            rng,
            population,
        )
        wire.phone = phone
        phone.set_consent("trips", True)
        self.all.append(Person(number, phone, wire))
        return self.all[-1]

    async def wake(self, people: Iterable[Person]) -> list[WakeUp]:
        return list(await asyncio.gather(*(person.wake() for person in people)))


def forget_hint(person: Person) -> None:
    """As if the moment that the hint drew had come for everyone."""
    state = person.phone.load()
    state.hint = None
    person.phone.save(state)
    person.phone.quiet_until = 0.0


def trips(person: Person, day: datetime, catalog: Catalog) -> list[Event]:
    """A few trips on a day, of the person's own country: no two people have the same sums."""
    rng = Random(f"{person.number} {day:%Y-%m-%d}")
    stream = catalog.stream("trips")
    assert stream is not None
    columns = [c.name for c in stream.columns if not c.stamped and c.queryable]
    found = []
    for _ in range(rng.randint(1, 4)):
        row = {
            "region": "2988507",
            "country": ("FR", "DE", "CH")[person.number % 3],
            "activity": rng.choice(["walking", "cycling", "driving", "train"]),
            "direction": "within",
            "distance_km": round(rng.expovariate(1 / 9), 3),
            "duration_min": round(rng.expovariate(1 / 20), 3),
        }
        moment = day + timedelta(minutes=rng.randint(0, 24 * 60 - 1))
        found.append(Event(moment.timestamp(), 3600, tuple(row[name] for name in columns)))
    return found


def truth(
    task: ClientTask, catalog: Catalog, counted: Iterable[tuple[Person, Window]]
) -> dict[str, dict[int, list[int]]]:
    """Window → rank → sums, of what these people's phones bound from their events."""
    prepared = PreparedTask(task, catalog)
    sums: dict[str, dict[int, list[int]]] = defaultdict(dict)
    for person, window in counted:
        part = prepared.execute({"trips": person.events}, window)
        add(sums[window.id], part)
    return dict(sums)


def add(cells: dict[int, list[int]], part: Part) -> None:
    for rank, row in zip(part.ranks.tolist(), part.values.tolist(), strict=True):
        known = cells.get(rank, [0] * len(row))
        cells[rank] = [a + b for a, b in zip(known, row, strict=True)]


def next_monday() -> datetime:
    """Later than anything a prepared data folder holds, which is made in real time."""
    return Window.containing(datetime.now(UTC), Unit.WEEK).end


def counted_twice(people: Iterable[Person]) -> Counter[tuple[int, str]]:
    """(person, window) that a phone was told of more than once."""
    told: Counter[tuple[int, str]] = Counter()
    for person in people:
        for entry in person.phone.load().log:
            if entry.kind == "counted":
                told.update((person.number, window) for window in entry.windows)
    return Counter({key: times for key, times in told.items() if times > 1})
