"""One window of one task on the installation: its phones, its sessions, its release."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import cycle
from pathlib import Path
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
from devices_sim.device.api_client import HttpApi
from devices_sim.device.http import Http, Reply
from devices_sim.device.phone import Phone
from devices_sim.device.storage import MemoryStorage
from devices_sim.device.verification import Pins
from tests.faults.phones import Person, Wire
from tests.journeys.world import next_monday
from tests.machines.installation import Installation

TASK = "machines"
SPEC = """
name: machines
description: Trips by region
streams: [trips]
population: all
window: {unit: hour, grace_hours: 1}
client_sql: |
  SELECT region, privacy_time_unit, COUNT(*) AS n, SUM(distance_km) AS km
  FROM trips GROUP BY region, privacy_time_unit
server_sql: |
  SELECT region, privacy_time_unit, SUM(n) AS n, SUM(km) AS km
  FROM device_results GROUP BY region, privacy_time_unit
eligibility: {min_separation_windows: 1, require_events: true}
schedule: {max_runs_per_day: 4, conditions: [idle]}
aggregation:
  {min_contributions: 100, max_contributions: 10000, max_session_minutes: 60, max_rows: 4}
anonymization:
  epsilon: 0.01
  mechanism: {kind: joint_clipping, clip: 20}
publish: {audience: public}
"""
MAKE = """
import json, sys
from portal.accounts.models import Grant, Person
from portal.clock import civil_clock
from portal.collection.keys import device_keys
from portal.tasks import services
clock = civil_clock()
def person(name):
    made = Person.objects.create_user(name, email=f"{name}@example.org", password="correct horse")
    Grant.objects.create(person=made, role=name)
    return made
analyst, reviewer = person("analyst"), person("reviewer")
task = services.create_task(name="machines", text=sys.stdin.read(), actor=analyst, clock=clock)
revision = services.submit(task=task, version=1, actor=analyst, clock=clock)
services.approve(revision=revision, seen=revision.content_sha256, password="correct horse",
                 comment="Fine.", actor=reviewer, clock=clock)
print(json.dumps([revision.client_task_json, device_keys()]))
"""
SESSIONS = """
SELECT s.id, s.state, s.worker FROM collection_session s
JOIN tasks_revision r ON r.id = s.revision_id JOIN tasks_task t ON t.id = r.task_id
WHERE t.name = 'machines' AND s.collects_id IS NULL
"""
COLLECTORS = """
SELECT id, state, worker FROM collection_session WHERE collects_id IS NOT NULL
ORDER BY requested_at
"""
RELEASED = """
SELECT r.noised FROM releases_release r JOIN releases_rendering f ON f.release_id = r.id
JOIN tasks_taskwindow w ON w.id = r.window_id WHERE w.window = %s
"""


class Balancer:
    """In front of the front ends: it ends HTTPS, says so to them, and asks each in turn."""

    def __init__(self, *fronts: Http) -> None:
        self._turns = cycle(fronts)

    async def ask(self, method: str, path: str, body: bytes = b"", headers: str = "") -> Reply:
        return await next(self._turns).ask(
            method, path, body, f"{headers}\r\nX-Forwarded-Proto: https"
        )


@dataclass(frozen=True)
class Session:
    id: str
    state: str
    # `sessions@sessions1-1`: its kind, its machine, and its number there.
    worker: str

    @property
    def is_alive(self) -> bool:
        return self.state in ("opening", "open", "completing")

    @property
    def machine(self) -> str:
        """As it is called here: processes that stand for machines have one host name."""
        kind, _, place = self.worker.partition("@")
        return kind + place.rpartition("-")[2]


class OneWindow:
    """The hour after the task was approved."""

    def __init__(self, system: Installation, streams: Path) -> None:
        self.system = system
        self.clock = SimulatedClock(system.clock_file)
        task, keys = json.loads(
            system.manage("shell", "--no-imports", "-c", MAKE, given=SPEC).splitlines()[-1]
        )
        self.task = msgspec.json.decode(task, type=ClientTask)
        self.pins = Pins.of(**keys)
        self.catalog = Catalog.open(streams)
        self.window = Window(next_monday() + timedelta(hours=12), Unit.HOUR)
        self._prepared = PreparedTask(self.task, self.catalog)

    def people(self, api: HttpApi, count: int) -> list[Person]:
        """Phones, each with a trip of its own in this window; then the window is over."""
        found = []
        for number in range(count):
            rng = Random(number)
            wire = Wire(api, rng)
            phone = Phone(MemoryStorage(), self.catalog, self.pins, wire, self.clock, rng, "all")
            phone.set_consent("trips", True)
            found.append(Person(number, phone, wire))
        self.clock.set(self.window.start + timedelta(minutes=30))
        for person in found:
            person.travel(self.clock.now(), self.catalog)
        self.clock.set(self.window.end + timedelta(minutes=5))
        return found

    def come_to_its_end(self) -> None:
        self.clock.set(self.window.end + timedelta(hours=1, minutes=5))

    def sessions(self) -> dict[str, Session]:
        return {row[0]: Session(*row) for row in self.system.rows(SESSIONS)}

    def collectors(self) -> list[Session]:
        return [Session(*row) for row in self.system.rows(COLLECTORS)]

    def state_of(self, session: str) -> str:
        return self.sessions()[session].state

    def serving(self) -> list[str]:
        """The sessions that front ends are told of, if the windows are those of this moment."""
        raw = self.system.queue.get("mayfly:snapshot")
        found = json.loads(raw) if raw else {"at": "", "tasks": []}
        if found["at"] != self.clock.now().isoformat():
            return []
        return [one["id"] for task in found["tasks"] for one in task["sessions"]]

    def holder(self, least: int) -> Session | None:
        """The session that says that it holds so many."""
        rows, queue = self.sessions(), self.system.queue
        for one in self.serving():
            raw = queue.get(f"mayfly:session:{one}:status")
            if raw and json.loads(raw)["contributions"] >= least and one in rows:
                return rows[one]
        return None

    def without_a_place(self, people: Sequence[Person]) -> list[Person]:
        """Those whose update is in no session that lives, and not counted either."""
        rows = self.sessions()
        return [one for one in people if not _has_place(one, rows)]

    def released(self) -> bytes | None:
        rows = self.system.rows(RELEASED, self.window.id)
        assert len(rows) < 2
        return bytes(rows[0][0]) if rows else None

    def times_counted(self, people: Sequence[Person], noised: bytes) -> list[int]:
        """How often each phone is in the release. Nobody else is."""
        sums = Noised.decode(noised).sums
        found = []
        for person in people:
            part = self._prepared.execute({"trips": person.events}, self.window)
            (rank,), (row,) = part.ranks.tolist(), part.values
            times = int(sums[rank][0] // row[0])
            assert np.array_equal(sums[rank], times * row)
            sums[rank] = 0
            found.append(times)
        assert not sums.any(), "Somebody is counted whom nobody knows."
        return found


def _has_place(person: Person, rows: dict[str, Session]) -> bool:
    if not person.on_its_way and person.has("counted"):
        return True
    asked: Any = person.waits_for()
    return asked is not None and rows[asked].is_alive
