"""Two hundred phones, three windows, one exact sum each: from events to encrypted partials.

The phones' network loses and repeats messages. Some phones come late and send two windows at once,
some send while a window closes, one is reinstalled, one's clock is set back, some opt out. What
the server releases of each window, with noise off, is exactly what those phones bound whose update
was taken in time.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import numpy as np
import pytest

from aggregation.clock import SimulatedClock
from aggregation.ondevice.execute import PreparedTask
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.windows import Unit, Window
from devices_sim.device.api_client import connected
from tests.journeys.hostile import attack
from tests.journeys.world import (
    People,
    Person,
    World,
    counted_twice,
    forget_hint,
    next_monday,
    trips,
    truth,
)
from tests.parts import eventually, start_system
from tests.privacy.canary import rows_of, sweep

pytestmark = pytest.mark.solo

TASK = "journey"
SPEC = """
name: journey
description: Trips and distance by country and activity
streams: [trips]
population: all
window: {unit: day, grace_hours: 30}
client_sql: |
  SELECT country, activity, privacy_time_unit, COUNT(*) AS num_trips, SUM(distance_km) AS km
  FROM trips GROUP BY country, activity, privacy_time_unit
server_sql: |
  SELECT country, activity, privacy_time_unit, SUM(num_trips) AS num_trips, SUM(km) AS km
  FROM device_results GROUP BY country, activity, privacy_time_unit
eligibility: {min_separation_windows: 1, require_events: true}
schedule: {max_runs_per_day: 4, conditions: [idle]}
aggregation: {min_contributions: 100, max_contributions: 400, max_session_minutes: 60, max_rows: 12}
anonymization:
  epsilon: 0.2
  mechanism: {kind: joint_clipping, clip: 20}
  suppression: {max_relative_noise: 0.1}
"""
MAKE = """
from portal.accounts.models import Person
from portal.clock import civil_clock
from portal.tasks import services
from portal.tasks.models import Task
import sys
clock = civil_clock()
analyst, reviewer = (Person.objects.get(username=n) for n in ("analyst", "reviewer"))
task = services.create_task(name="journey", text=sys.stdin.read(), actor=analyst, clock=clock)
revision = services.submit(task=task, version=1, actor=analyst, clock=clock)
services.approve(revision=revision, seen=revision.content_sha256, password="reviewer",
                 comment="Fine.", actor=reviewer, clock=clock)
print(revision.client_task_json)
"""
EXACT = {"DJANGO_SETTINGS_MODULE": "tests.privacy.without_noise_settings"}
READ = """
import json, sys, time
from aggregation.release.noised import Noised
from portal.releases.models import Release
found = Release.objects.filter(window__task__name="journey", window__window=sys.stdin.read())
while not found.exists():
    time.sleep(0.2)
release = found.get()
sums = Noised.decode(bytes(release.noised)).sums
cells = {int(i): sums[i].tolist() for i in sums.any(axis=1).nonzero()[0]}
print(json.dumps([release.window.partials.filter(level=1).count(), cells]))
"""
MONDAY = next_monday()
DAYS = [Window(MONDAY + timedelta(days=day), Unit.DAY) for day in (1, 2, 3)]
FIRST, SECOND, THIRD = (window.id for window in DAYS)
PHONES = 200


def utc(day: int, hour: float = 0) -> datetime:
    """A moment of the journey: it begins on Monday, day 0."""
    return MONDAY + timedelta(days=day, hours=hour)


@pytest.fixture
def world(prepared_data: Path, tmp_path: Path) -> Iterator[World]:
    (data := tmp_path / "data").mkdir()
    SimulatedClock(data / "clock.json").start(utc(0, 11), speed=0)
    # One session at a time: two could share the phones so that neither ever has enough to store.
    settings = {"MAYFLY_CLOCK": "simulated", "MAYFLY_SESSION_SLOTS": "1", **EXACT}
    system = start_system(data, prepared=prepared_data, **settings)
    try:
        eventually(system.is_ready, within=90, log=system.log)
        yield World(system)
    finally:
        system.stop()


def test_what_is_released_is_what_the_phones_bound(world: World) -> None:
    asyncio.run(Journey(world).run())


class Journey:
    def __init__(self, world: World) -> None:
        self.world = world
        self.task: ClientTask | None = None

    async def run(self) -> None:
        async with connected(self.world.system.url) as api:
            self.people = People(self.world, api, seed=5)
            await self._start()
            await self._first_day()
            await self._second_day_and_a_window_that_closes()
            await self._third_day()
            await self._everyone_hears()
        self._look_back()
        self._look_for_traces()

    async def _start(self) -> None:
        self.world.clock.set(utc(0, 12))
        made = await asyncio.to_thread(self.world.system.shell, MAKE, SPEC)
        self.task = msgspec.json.decode(made, type=ClientTask)
        everyone = [self.people.install() for _ in range(PHONES)]
        self.regular, self.stragglers = everyone[:130], everyone[130:165]
        self.cut_off, self.opting_out = everyone[165:170], everyone[170:180]
        self.reinstalled, self.set_back = everyone[180:181], everyone[181:182]
        self.offline = everyone[182:]
        self.released: dict[str, tuple[int, dict[int, list[int]]]] = {}
        self.in_time: set[tuple[int, str]] = set()

    async def _first_day(self) -> None:
        await self._live(DAYS[0])
        awake = [*self.regular, *self.opting_out, *self.reinstalled, *self.set_back]
        await self._wake_until_sent(awake, utc(2, 1), [FIRST])
        for person in self.opting_out:
            person.phone.set_consent("trips", False)

    async def _second_day_and_a_window_that_closes(self) -> None:
        await self._live(DAYS[1])
        both = [FIRST, SECOND]
        await self._wake_until_sent([*self.regular[:90], *self.stragglers], utc(3, 1), both)
        api = self.people.api
        attacks = Counter(map(str, await attack(api, self.task, SECOND)))
        await asyncio.to_thread(self._were_refused, attacks)
        # They have asked for their place in time, and send when the first window has closed.
        await self._to(utc(3, 5), both)
        late = asyncio.Event()
        for person in self.cut_off:
            person.wire.loss, person.wire.twice = 0.0, 0.0
            person.wire.before_upload = late.wait
        sending = [asyncio.create_task(person.wake()) for person in self.cut_off]
        await asyncio.to_thread(self._wait_for_stored, self.cut_off)
        self._note_in_time()
        await self._to(utc(3, 6.5), [SECOND])
        await self._released(DAYS[0])
        late.set()
        await asyncio.gather(*sending)

    async def _third_day(self) -> None:
        number = self.reinstalled[0].number
        await self._live(DAYS[2])
        fresh = self.people.install()
        fresh.events = self.reinstalled[0].events
        self.reinstalled = [fresh]
        behind = self.set_back[0].phone
        behind.clock = _Behind(self.world.clock)
        assert number != fresh.number
        awake = [*self.regular, *self.stragglers, *self.opting_out, *self.cut_off]
        awake += [*self.reinstalled, *self.set_back]
        await self._wake_until_sent(awake, utc(4, 1), [SECOND, THIRD])
        self._note_in_time()
        await self._to(utc(4, 6.5), [THIRD])
        await self._released(DAYS[1])
        await self._wake_until_sent(self.offline, utc(4, 8), [THIRD], everyone=True)
        self._note_in_time()
        await self._to(utc(5, 6.5), [DAYS[2].next().id])
        await self._released(DAYS[2])

    async def _everyone_hears(self) -> None:
        """Lost answers included: each phone comes to know that its sessions are over."""
        self.world.clock.set(utc(5, 8))
        for person in self.people.all:
            person.wire.loss = 0.0

        async def nothing_is_on_its_way() -> bool:
            await self.people.wake(self.people.all)
            return not any(person.phone.load().pending for person in self.people.all)

        for _ in range(100):
            if await nothing_is_on_its_way():
                return
        raise AssertionError("Some phones still wait for an answer.")

    def _look_back(self) -> None:
        windows = {window.id: window for window in DAYS}
        people = {person.number: person for person in self.people.all}
        expected = truth(
            self.task,  # type: ignore[arg-type]
            self.world.catalog,
            [(people[number], windows[window]) for number, window in sorted(self.in_time)],
        )
        for window in windows:
            partials, cells = self.released[window]
            assert cells == expected[window]
            assert partials >= 1, "Nothing of it was ever at rest, so nothing was shown."
        assert not counted_twice(people.values())
        told = {(n, w) for n, person in people.items() for w in person.windows("counted")}
        assert told <= self.in_time
        self._were_all_there(people)

    def _were_all_there(self, people: dict[int, Person]) -> None:
        """What the journey is about did happen."""
        of = {w.id: {n for n, window in self.in_time if window == w.id} for w in DAYS}
        first, second, third = (of[w.id] for w in DAYS)
        assert {p.number for p in self.stragglers} & first & second
        assert not {p.number for p in self.cut_off} & first
        assert {p.number for p in self.cut_off} <= second
        assert not {p.number for p in self.opting_out} & (second | third)
        assert {p.number for p in self.reinstalled} & (first | second | third) == set()
        lengths = {pair for person in people.values() for pair in person.wire.lengths}
        assert len({windows for windows, _ in lengths}) == len(lengths) >= 2
        traffic = [m.up + m.down for person in people.values() for m in person.meters]
        p95 = float(np.percentile(traffic, 95))
        print(f"traffic per query: p95 {p95:,.0f} bytes, both ways, of {len(traffic)} queries")
        assert p95 < 15_000

    def _look_for_traces(self) -> None:
        """One phone's rows and sealed bytes are in no file, log, table or queue."""
        person = self.regular[0]
        assert person.wire.seen
        secrets = [sealed[40:72] for sealed in person.wire.seen]
        prepared = PreparedTask(self.task, self.world.catalog)
        for window in DAYS:
            secrets += rows_of(prepared.execute({"trips": person.events}, window))
        data, queue = self.world.system.data, self.world.queue
        assert sweep(data, queue, secrets) == []
        self._would_be_found(secrets)

    def _would_be_found(self, secrets: list[bytes]) -> None:
        """Planted in a file and in a queue, each is found: the search can see."""
        data, queue = self.world.system.data, self.world.queue
        planted = data / "planted.log"
        for secret in secrets:
            planted.write_bytes(b"a line " + base64.b64encode(b"about " + secret) + b" of a log")
            queue.rpush("planted", secret)
            assert sweep(data, queue, [secret]) == ["planted.log", "planted"]
            queue.delete("planted")
        planted.unlink()

    def _were_refused(self, attacks: Counter[str]) -> None:
        """By the sessions' own exact counts: nobody else sees those."""

        def counts() -> Counter[str]:
            total: Counter[str] = Counter()
            for key in self.world.queue.scan_iter(match="mayfly:session:*:status", count=1000):
                total.update(json.loads(self.world.queue.get(key) or b"{}")["counts"])
            return total

        def refused() -> dict[str, int]:
            found = counts()
            assert {reason: found[reason] for reason in attacks} == attacks
            return found

        assert eventually(refused, log=self.world.system.log)["duplicate"] > 0

    async def _live(self, day: Window) -> None:
        """A day passes, with its trips."""
        self.world.clock.set(day.end - timedelta(minutes=1))
        for person in self.people.all:
            events = trips(person, day.start, self.world.catalog)
            if person.phone.record("trips", *events):
                person.events += events

    async def _wake_until_sent(
        self, people: list[Person], first: datetime, windows: list[str], *, everyone: bool = False
    ) -> None:
        """Wake them every hour or so, as hints and losses allow, until most have sent."""
        for hour in range(4):
            await self._to(first + timedelta(hours=hour), windows)
            for person in people:
                forget_hint(person)
            await self.people.wake(people)
        await asyncio.to_thread(self.world.wait_until_taken)

    async def _to(self, moment: datetime, windows: list[str]) -> None:
        await asyncio.to_thread(self.world.go_to, moment, TASK, windows)

    def _wait_for_stored(self, people: list[Person]) -> None:
        eventually(lambda: all(p.phone.load().pending for p in people))

    def _note_in_time(self) -> None:
        """What is in a queue while its window is open is in time."""
        for person in self.people.all:
            for windows in person.wire.queued.values():
                self.in_time |= {(person.number, w) for w in windows if w not in self.released}

    async def _released(self, window: Window) -> None:
        """What the system released of itself: this one adds no noise."""
        raw = await asyncio.to_thread(self.world.system.shell, READ, window.id)
        partials, cells = json.loads(raw.splitlines()[-1])
        self.released[window.id] = (partials, {int(rank): row for rank, row in cells.items()})


class _Behind:
    """A clock that somebody set back by four days."""

    def __init__(self, inner: object) -> None:
        self._inner = inner

    def now(self) -> datetime:
        return self._inner.now() - timedelta(days=4)  # type: ignore[attr-defined,no-any-return]
