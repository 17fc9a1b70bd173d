"""One running system for all faults: its task, its clock, its sessions, and new phones for it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec

from aggregation.clock import SimulatedClock
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.streams import Catalog
from devices_sim.device.api_client import HttpApi
from devices_sim.device.phone import Phone
from devices_sim.device.storage import MemoryStorage
from devices_sim.device.verification import Pins
from tests.faults.account import Account
from tests.faults.parts import Parts
from tests.faults.phones import Person, Wire

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

    def last(self, session: str, rows: dict[str, Session]) -> Session:
        """Where what was sent to a session has come to, by way of hand-overs."""
        found = rows[session]
        while found.state == "flushed" and found.successor:
            found = rows[found.successor]
        return found

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

    def install(self, api: HttpApi, wire: dict[str, float]) -> Person:
        """One phone more; none has the number, and so the cell, of another."""
        number, self._installed = self._installed, self._installed + 1
        rng = Random(number)
        made = Wire(api, rng, **wire)
        phone = Phone(MemoryStorage(), self.catalog, self.pins, made, self.clock, rng, "all")
        phone.set_consent("trips", True)
        return Person(number, phone, made)
