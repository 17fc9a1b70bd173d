"""One running system for many faults: its task, its clock, its sessions, new phones for it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

import msgspec

from aggregation.clock import SimulatedClock
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit
from devices_sim.device.api_client import HttpApi
from devices_sim.device.phone import Phone
from devices_sim.device.storage import MemoryStorage
from devices_sim.device.verification import Pins
from tests.faults.account import Account
from tests.faults.parts import Parts
from tests.faults.phones import Person, Wire

SPEC = """
name: {name}
description: Trips by region
streams: [trips]
population: all
window: {{unit: {unit}, grace_hours: {grace_hours}}}
client_sql: |
  SELECT region, privacy_time_unit, COUNT(*) AS n, SUM(distance_km) AS km
  FROM trips GROUP BY region, privacy_time_unit
server_sql: |
  SELECT region, privacy_time_unit, SUM(n) AS n, SUM(km) AS km
  FROM device_results GROUP BY region, privacy_time_unit
eligibility: {{min_separation_windows: 1, require_events: true}}
schedule: {{max_runs_per_day: 4, conditions: [idle]}}
aggregation:
  {{min_contributions: {least}, max_contributions: {most}, max_session_minutes: 60, max_rows: 4}}
anonymization:
  epsilon: 0.01
  mechanism: {{kind: joint_clipping, clip: 20}}
"""
# A session stores from so many on: the least that a spec may say.
LEAST = 100
# On a database that is empty, or that a demo has; what ran there ends.
MAKE = """
import json, re, sys
from django.core.management import call_command
call_command("migrate", interactive=False, verbosity=0)
call_command("make_demo_people", verbosity=0)
from portal import kept_secrets
from portal.accounts.models import Person
from portal.clock import civil_clock
from portal.collection.keys import WORKER, pinned_keys
from portal.tasks import services
from portal.tasks.models import Task
from portal.tasks.running import end
from portal.tasks.signing import APPROVAL
clock, spec = civil_clock(), sys.stdin.read()
analyst, reviewer = (Person.objects.get(username=n) for n in ("analyst", "reviewer"))
for task in Task.objects.filter(state="active"):
    end(task=task, reason="Another one begins.", actor=analyst, clock=clock)
name = re.search("name: (.+)", spec)[1]
task = services.create_task(name=name, text=spec, actor=analyst, clock=clock)
revision = services.submit(task=task, version=1, actor=analyst, clock=clock)
services.approve(revision=revision, seen=revision.content_sha256, password="reviewer",
                 comment="Fine.", actor=reviewer, clock=clock)
for key in (APPROVAL, WORKER):
    kept_secrets.announce(key)
print(json.dumps([revision.client_task_json, pinned_keys()]))
"""
SESSIONS = """
SELECT s.id, s.state, s.worker, h.successor_id FROM collection_session s
JOIN tasks_revision r ON r.id = s.revision_id JOIN tasks_task t ON t.id = r.task_id
LEFT JOIN collection_handover h ON h.session_id = s.id WHERE t.name = ?
"""


@dataclass(frozen=True)
class Session:
    id: str
    state: str
    worker: str
    # Whoever took its window over.
    successor: str | None

    @property
    def is_alive(self) -> bool:
        return self.state in ("opening", "open", "completing")


class World:
    """The system, the one task that runs in it, and the civil time it has come to."""

    name: str
    unit: Unit
    grace: timedelta

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.catalog = Catalog.open(parts.data / "streams")
        self.clock = SimulatedClock(parts.data / "clock.json")
        self.accounts: list[Account] = []
        # Fault → what a marked phone sent, sealed and bare.
        self.secrets: dict[str, list[bytes]] = {}
        self._installed = 0

    def run_task(self, name: str, unit: Unit, *, grace_hours: int, most: int) -> None:
        """A new task, alone; its first window is the next one."""
        self.name, self.unit, self.grace = name, unit, timedelta(hours=grace_hours)
        spec = SPEC.format(name=name, unit=unit, grace_hours=grace_hours, least=LEAST, most=most)
        task, keys = json.loads(self.parts.shell(MAKE, spec).splitlines()[-1])
        self.task = msgspec.json.decode(task, type=ClientTask)
        self.pins = Pins.of(**keys)

    def sessions(self) -> dict[str, Session]:
        return {row[0]: Session(*row) for row in self.parts.rows(SESSIONS, self.name)}

    def last(self, session: str, rows: dict[str, Session]) -> Session:
        """Where what was sent to a session has come to, by way of hand-overs."""
        found = rows[session]
        while found.state == "flushed" and found.successor:
            found = rows[found.successor]
        return found

    def serving(self) -> list[dict[str, Any]]:
        """The sessions that front ends are told of, if the windows are those of this moment."""
        found = self._snapshot()
        if found["at"] != self.clock.now().isoformat():
            return []
        ours = [task for task in found["tasks"] if task["task"] == self.name]
        return [one for task in ours for one in task["sessions"]]

    def is_told_the_time(self) -> bool:
        """Whether front ends are told of this moment."""
        return bool(self._snapshot()["at"] == self.clock.now().isoformat())

    def _snapshot(self) -> dict[str, Any]:
        raw = self.parts.queue.get("mayfly:snapshot")
        return json.loads(raw) if raw else {"at": "", "tasks": []}

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

    def install(self, api: HttpApi, wire: dict[str, float]) -> Person:
        """One phone more; none has the number, and so the cell, of another."""
        number, self._installed = self._installed, self._installed + 1
        rng = Random(number)
        made = Wire(api, rng, **wire)
        phone = Phone(MemoryStorage(), self.catalog, self.pins, made, self.clock, rng, "all")
        phone.set_consent("trips", True)
        return Person(number, phone, made)
