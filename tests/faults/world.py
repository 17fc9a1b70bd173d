"""One running system for all faults, an hour of civil time for each, and what became of it.

A scenario is a window: phones are installed, travel, and send while a fault is at work; then the
window closes and is released without noise. A phone has a cell of its own, so the release tells
of each phone whether it was counted, and how often.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

import msgspec
import numpy as np

from aggregation.clock import SimulatedClock
from aggregation.ondevice.execute import PreparedTask
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit, Window
from aggregation.release.noised import Noised
from devices_sim.device.api_client import HttpApi, connected
from devices_sim.device.phone import Phone
from devices_sim.device.storage import MemoryStorage
from devices_sim.device.verification import Pins
from tests.faults.account import Account
from tests.faults.parts import Parts
from tests.faults.phones import Person, Wire, wake
from tests.parts import _tail
from tests.privacy.canary import rows_of

TASK = "faults"
SPEC = """
name: faults
description: Trips by region
streams: [trips]
population: all
window: {{unit: hour, grace_hours: 1}}
client_sql: |
  SELECT region, privacy_time_unit, COUNT(*) AS n, SUM(distance_km) AS km
  FROM trips GROUP BY region, privacy_time_unit
server_sql: |
  SELECT region, privacy_time_unit, SUM(n) AS n, SUM(km) AS km
  FROM device_results GROUP BY region, privacy_time_unit
eligibility: {{min_separation_windows: 1, require_events: true}}
schedule: {{max_runs_per_day: 4, conditions: [idle]}}
aggregation:
  {{min_contributions: 100, max_contributions: {most}, max_session_minutes: 60, max_rows: 4}}
anonymization:
  epsilon: 0.01
  mechanism: {{kind: joint_clipping, clip: 20}}
"""
MAKE = """
import json, sys
from portal.accounts.models import Person
from portal.clock import civil_clock
from portal.collection.keys import device_keys
from portal.tasks import services
clock = civil_clock()
analyst, reviewer = (Person.objects.get(username=n) for n in ("analyst", "reviewer"))
task = services.create_task(name="faults", text=sys.stdin.read(), actor=analyst, clock=clock)
revision = services.submit(task=task, version=1, actor=analyst, clock=clock)
services.approve(revision=revision, seen=revision.content_sha256, password="reviewer",
                 comment="Fine.", actor=reviewer, clock=clock)
print(json.dumps([revision.client_task_json, device_keys()]))
"""
SESSIONS = """
SELECT s.id, s.state, s.worker, h.successor_id FROM collection_session s
JOIN tasks_revision r ON r.id = s.revision_id JOIN tasks_task t ON t.id = r.task_id
LEFT JOIN collection_handover h ON h.session_id = s.id WHERE t.name = 'faults'
"""
RECEIPTS = """
SELECT r.session_id, r.ids FROM collection_receipts r
JOIN tasks_taskwindow w ON w.id = r.window_id WHERE w.window = ?
"""
RELEASED = """
SELECT r.noised FROM releases_release r JOIN tasks_taskwindow w ON w.id = r.window_id
JOIN tasks_task t ON t.id = w.task_id WHERE t.name = 'faults' AND w.window = ?
"""
HOUR = timedelta(hours=1)
ALIVE = ("opening", "open", "completing")
# Generous: nothing is asserted about time.
WITHIN_SECONDS = 120.0


@dataclass(frozen=True)
class Session:
    id: str
    state: str
    worker: str
    # Whoever took its window over.
    successor: str | None


class World:
    """The system, and the civil hour it has come to."""

    def __init__(self, parts: Parts, made: str) -> None:
        task, keys = json.loads(made)
        self.parts = parts
        self.task = msgspec.json.decode(task, type=ClientTask)
        self.pins = Pins.of(**keys)
        self.catalog = Catalog.open(parts.data / "streams")
        self.clock = SimulatedClock(parts.data / "clock.json")
        self.accounts: list[Account] = []
        # What marked phones sent, sealed and bare.
        self.secrets: list[bytes] = []
        self._installed = 0

    def sessions(self) -> dict[str, Session]:
        return {row[0]: Session(*row) for row in self.parts.rows(SESSIONS)}

    def serving(self) -> list[dict[str, Any]]:
        """The sessions that front ends are told of, if the windows are those of this moment."""
        raw = self.parts.queue.get("mayfly:snapshot")
        found = json.loads(raw) if raw else {"at": "", "tasks": []}
        if found["at"] != self.clock.now().isoformat():
            return []
        return [one for task in found["tasks"] if task["task"] == TASK for one in task["sessions"]]

    def holding(self) -> list[Session]:
        """Sessions on living workers that devices are sent to and that say that they hold some."""
        rows, queue = self.sessions(), self.parts.queue
        found = []
        for one in (rows[each["id"]] for each in self.serving() if each["id"] in rows):
            raw = queue.get(f"mayfly:session:{one.id}:status")
            holds = json.loads(raw)["contributions"] if raw else 0
            if holds and one.worker in self.parts.workers:
                found.append(one)
        return found

    @asynccontextmanager
    async def scenario(
        self, fault: str, phones: int, *, port: int = 0, **wire: float
    ) -> AsyncIterator[Scenario]:
        """A window with so many phones. On leaving, it is closed, released and accounted for."""
        start = self.clock.now().replace(minute=0, second=0, microsecond=0) + HOUR
        window = Window(start, Unit.HOUR)
        async with connected(f"http://127.0.0.1:{port or self.parts.port}") as api:
            people = [self._installed_phone(api, wire) for _ in range(phones)]
            self.clock.set(start + timedelta(minutes=30))
            for person in people:
                person.travel(self.clock.now(), self.catalog)
            port_of = port or self.parts.port
            made = Scenario(self, fault, window, people, api, port_of, self.parts.memory_mb())
            self.clock.set(window.end + timedelta(minutes=5))
            await made.until(self.serving, "no session serves the window")
            yield made
            await made.close()
        self.accounts.append(made.account)
        self.secrets += made.secrets_of(people[0])

    def _installed_phone(self, api: HttpApi, wire: dict[str, float]) -> Person:
        number, self._installed = self._installed, self._installed + 1
        rng = Random(number)
        made = Wire(api, rng, **wire)
        phone = Phone(MemoryStorage(), self.catalog, self.pins, made, self.clock, rng, "all")
        phone.set_consent("trips", True)
        return Person(number, phone, made)


@dataclass
class Scenario:
    world: World
    fault: str
    window: Window
    people: list[Person]
    api: HttpApi
    # Of the front end that phones talk to.
    port: int
    memory_mb: float
    kills: int = 0
    # Uploads beside those of the phones.
    uploads: int = 0
    account: Account = field(init=False)

    async def until(self, condition: Callable[[], Any], what: str) -> Any:
        """Wait for something of the system, in a thread: phones go on meanwhile."""
        deadline = time.monotonic() + WITHIN_SECONDS
        while time.monotonic() < deadline:
            if found := await asyncio.to_thread(condition):
                return found
            await asyncio.sleep(0.05)
        raise AssertionError(self._lament(what))

    async def settle(self) -> None:
        """Wake whoever has something to do, until each update is where it counts, or is counted."""
        await self.send_until(lambda: not self._unsettled(self.people), self.people)
        await self.until(self._all_taken, "updates stay in a queue")

    async def a_holder(self, people: Sequence[Person]) -> Session:
        """These send, until a session says that it holds some: that one."""
        found: list[Session] = await self.send_until(self.world.holding, people)
        return found[0]

    async def send_until(self, condition: Callable[[], Any], people: Sequence[Person]) -> Any:
        """Wake those of these who have something to do, again and again."""
        deadline = time.monotonic() + WITHIN_SECONDS
        while not (found := await asyncio.to_thread(condition)):
            awaited = await asyncio.to_thread(self._unsettled, people)
            assert time.monotonic() < deadline, self._lament(f"{len(awaited)} do not come to rest")
            await wake(awaited)
            await asyncio.sleep(0.1)
        return found

    async def close(self) -> None:
        """The window closes and is released; every cell is compared with its phone."""
        await self.settle()
        flushed = await asyncio.to_thread(self._with_receipts)
        self.world.clock.set(self.window.end + HOUR + timedelta(minutes=5))
        raw = await self.until(self._released, "the window is not released")
        counts = self._counts(raw)
        self.account = Account.of(self, counts, flushed)

    def secrets_of(self, person: Person) -> list[bytes]:
        prepared = PreparedTask(self.world.task, self.world.catalog)
        bare = rows_of(prepared.execute({"trips": person.events}, self.window))
        return [*(sealed[40:72] for sealed in person.wire.seen), *bare]

    def was_dropped(self, person: Person) -> bool:
        """Whether a session that did not die has lost an update that its queue had taken."""
        sessions, earlier = self.world.sessions(), list(person.wire.queued.values())[:-1]
        return any(_last(one, sessions).state != "dead" for one in earlier)

    async def kill(self, worker: str) -> None:
        """And another takes its place."""
        self.kills += 1
        await asyncio.to_thread(self.world.parts.signal, worker, signal.SIGKILL)
        self.world.parts.start_worker()

    def is_answered(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5):
            return True
        return False

    def state_of(self, session: str) -> str:
        return self.world.sessions()[session].state

    def log_says(self, words: str) -> bool:
        return words in self.world.parts.log.read_text(errors="replace")

    def _lament(self, what: str) -> str:
        return f"{self.fault}: {what}.\n{_tail(self.world.parts.log)}"

    def _unsettled(self, people: Sequence[Person]) -> list[Person]:
        sessions = self.world.sessions()
        return [one for one in people if not self._is_settled(one, sessions)]

    def _is_settled(self, person: Person, sessions: dict[str, Session]) -> bool:
        if not person.on_its_way and person.has("counted"):
            return True
        asked = person.waits_for()
        if asked is None:
            return False
        last = _last(asked, sessions)
        return last.state in ALIVE and last.worker in self.world.parts.workers

    def _all_taken(self) -> bool:
        queue = self.world.parts.queue
        names = [f"mayfly:session:{one}:updates" for one in self.world.sessions()]
        return all(queue.llen(name) <= 1 for name in names)

    def _with_receipts(self) -> set[int]:
        """Phones whose update the database says is counted."""
        whose = {(s, u): p.number for p in self.people for u, s in p.wire.queued.items()}
        found = set()
        for session, ids in self.world.parts.rows(RECEIPTS, self.window.id):
            updates = [ids[at : at + 8].hex() for at in range(0, len(ids), 8)]
            found |= {whose[session, one] for one in updates if (session, one) in whose}
        return found

    def _released(self) -> bytes | None:
        found = self.world.parts.rows(RELEASED, self.window.id)
        return bytes(found[0][0]) if found else None

    def _counts(self, raw: bytes) -> dict[int, int]:
        """How often each phone is in the release. Nobody else is."""
        sums, prepared = Noised.decode(raw).sums, PreparedTask(self.world.task, self.world.catalog)
        counts: dict[int, int] = {}
        for person in self.people:
            part = prepared.execute({"trips": person.events}, self.window)
            (rank,), (row,) = part.ranks.tolist(), part.values
            counts[person.number] = int(sums[rank][0] // row[0])
            assert np.array_equal(sums[rank], counts[person.number] * row)
            sums[rank] = 0
        assert not sums.any(), f"{self.fault}: somebody is counted whom nobody knows."
        return counts


def _last(session: str, sessions: dict[str, Session]) -> Session:
    found = sessions[session]
    while found.state == "flushed" and found.successor:
        found = sessions[found.successor]
    return found
