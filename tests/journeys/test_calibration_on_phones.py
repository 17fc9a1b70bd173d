"""Sizes that nobody knew, asked of phones: two reviewed tasks, two releases, one click.

A whole system and a dozen phones. The first task asks for scales, the second for the clip; both
are drafted on the page, approved by a second person, charged, summed in sessions, released, and
over. What they tell goes into the draft with one click, and its reviewer reads where it is from. A
calibration that too few took part in gives nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import yaml

from aggregation.clock import SimulatedClock
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.windows import Unit, Window
from devices_sim.device.api_client import connected
from devices_sim.device.once_only import Stage
from tests.journeys.world import People, Person, World, forget_hint, next_monday, trips, truth
from tests.parts import eventually, start_system
from tests.portal.lab.on_devices.crowd import crowd, norms

pytestmark = pytest.mark.solo

SPEC = """
name: sizes
description: Trips and distance by country and activity
streams: [trips]
population: all
window: {unit: day, grace_hours: 6}
client_sql: |
  SELECT country, activity, privacy_time_unit, COUNT(*) AS num_trips,
         SUM(distance_km) AS distance_km
  FROM trips GROUP BY country, activity, privacy_time_unit
server_sql: |
  SELECT country, activity, privacy_time_unit, SUM(num_trips) AS num_trips,
         SUM(distance_km) AS distance_km
  FROM device_results GROUP BY country, activity, privacy_time_unit
schedule: {max_runs_per_day: 4, conditions: [idle]}
anonymization:
  epsilon: 0.2
  mechanism: {kind: joint_clipping, clip: 20}
"""
# Both people, and the page as the analyst sees it.
PEOPLE = """
import json, sys, time
from django.test import Client
from portal.accounts.models import Person
from portal.clock import civil_clock
from portal.tasks import services
from portal.tasks.models import Draft, Task
clock, page = civil_clock(), "/lab/on-phones/sizes"
analyst, reviewer = (Person.objects.get(username=n) for n in ("analyst", "reviewer"))
client = Client(headers={"host": "localhost"})
client.force_login(analyst)

def submitted(name):
    task = Task.objects.get(name=name)
    version = Draft.objects.get(task=task).version
    return services.submit(task=task, version=version, actor=analyst, clock=clock)

def approved(name):
    revision = submitted(name)
    return services.approve(revision=revision, seen=revision.content_sha256, password="reviewer",
                            comment="Fine.", actor=reviewer, clock=clock)
"""
ASK = """
services.create_task(name="sizes", text=sys.stdin.read(), actor=analyst, clock=clock)
for epsilon in ("0.5", "0.25"):
    asked = {"epsilon": epsilon, "by": ["activity"]}
    assert client.post(page + "/scales", asked).status_code == 302
print(approved("sizes-scales").client_task_json)
approved("sizes-scales-2")
"""
RELEASED = """
from aggregation.release.noised import Noised
from portal.releases.models import Release
found = Release.objects.filter(window__task__name=NAME)
while not found.exists():
    time.sleep(0.2)
sums = Noised.decode(bytes(found.get().noised)).sums[:, 0]
"""
CLIP = """
while Release.objects.count() < 2:
    time.sleep(0.2)
body = client.get(page).content.decode()
asked = client.post(page + "/clip", {"epsilon": "0.5", "scales": "sizes-scales-2"}, follow=True)
refused = asked.content.decode()
assert client.post(page + "/clip", {"epsilon": "0.5", "scales": "sizes-scales"}).status_code == 302
approved("sizes-clip")
print(json.dumps([sums.tolist(), body, refused]))
"""
USE = """
from portal.ledger.models import Charge
from portal.tasks.provenance import provenance_of
click = client.post(page + "/use", {"clip": "sizes-clip", "quantile": "97.5"})
told = provenance_of(submitted("sizes")).facts
while Task.objects.filter(name__startswith="sizes-", state="active").exists():
    time.sleep(0.2)
charges = Charge.objects.filter(task__startswith="sizes-").order_by("task")
print(json.dumps([click["Location"], Draft.objects.get(task__name="sizes").text, told,
                  [[c.task, c.amount, c.state] for c in charges]]))
"""
MONDAY = next_monday()
FIRST, SECOND = (Window(MONDAY + timedelta(days=day), Unit.DAY) for day in (1, 3))
PHONES = 12
# Generous: nothing is asserted about time.
WITHIN_SECONDS = 120.0


@pytest.fixture
def world(prepared_data: Path, tmp_path: Path) -> Iterator[World]:
    (data := tmp_path / "data").mkdir()
    SimulatedClock(data / "clock.json").start(MONDAY + timedelta(hours=11), speed=0)
    settings = {
        "MAYFLY_CLOCK": "simulated",
        "MAYFLY_SESSION_SLOTS": "2",
        "DJANGO_SETTINGS_MODULE": "tests.journeys.crowded_settings",
    }
    system = start_system(data, prepared=prepared_data, **settings)
    try:
        eventually(system.is_ready, within=90, log=system.log)
        yield World(system)
    finally:
        system.stop()


def test_what_phones_tell_goes_into_a_draft(world: World) -> None:
    asyncio.run(_journey(world))


async def _journey(world: World) -> None:
    def shell(code: str, name: str = "", given: str = "") -> str:
        return world.system.shell(PEOPLE + code.replace("NAME", repr(name)), given).splitlines()[-1]

    async with connected(world.system.url) as api:
        people = People(world, api, seed=11)
        raw = await asyncio.to_thread(shell, ASK, given=SPEC)
        scales = msgspec.json.decode(raw, type=ClientTask)
        for _ in range(PHONES):
            people.install().wire.loss = 0.0
        await _answer(world, people, FIRST, "sizes-scales")
        raw = await asyncio.to_thread(shell, RELEASED + CLIP, "sizes-scales")
        sums, *pages = json.loads(raw)
        counted = [(person, FIRST) for person in people.all]
        _tells_scales(sums, truth(scales, world.catalog, counted)[FIRST.id])
        _says_what_is_next(*pages)
        await _answer(world, people, SECOND, "sizes-clip")
    _is_used(*json.loads(shell(RELEASED + USE, "sizes-clip")))


async def _answer(world: World, people: People, day: Window, task: str) -> None:
    """They live through a day, and tell of it in the night after."""
    world.clock.set(day.end - timedelta(minutes=1))
    for person in people.all:
        events = trips(person, day.start, world.catalog)
        person.phone.record("trips", *events)
        person.events += events
    await asyncio.to_thread(world.go_to, day.end + timedelta(hours=1), task, [day.id])
    deadline = time.monotonic() + WITHIN_SECONDS
    while awaited := [person for person in people.all if not _has_told(person, task)]:
        assert time.monotonic() < deadline, f"{len(awaited)} phones find no place for {task}."
        for person in awaited:
            forget_hint(person)
        await people.wake(awaited)
    await asyncio.to_thread(world.wait_until_taken)
    world.clock.set(_due(day))


def _has_told(person: Person, task: str) -> bool:
    """Its update is in a session's queue."""
    pending = person.phone.load().pending
    return any(one.task == task and one.stage is Stage.QUEUED for one in pending)


def _due(day: Window) -> datetime:
    return day.end + timedelta(hours=6, minutes=30)


def _tells_scales(sums: list[int], told: dict[int, list[int]]) -> None:
    """The release is the crowd and what the phones bound."""
    everyone = (crowd(len(sums)) * GRID).astype(np.int64)
    for rank, row in told.items():
        everyone[rank] += row[0]
    assert sums == everyone.tolist()


def _says_what_is_next(page: str, refused: str) -> None:
    """Of the calibration with a crowd; that of a dozen phones is refused."""
    assert "Draft the task for the clip" in page
    for said in (page, refused):
        assert "ε · N is about &lt; 1,000, and 100,000 are needed" in said


def _is_used(address: str, text: str, told: dict[str, Any], charges: list[list[Any]]) -> None:
    assert address == "/tasks/sizes/edit"
    clip = yaml.safe_load(text)["anonymization"]["mechanism"]["clip"]
    assert 2**-0.25 < clip / np.quantile(norms(0.8, 0), 0.975) < 2**0.25
    assert told["kind"] == "devices, with differential privacy"
    assert [one["task"] for one in told["releases"]] == ["sizes-scales", "sizes-clip"]
    assert [one["window"] for one in told["releases"]] == [FIRST.id, SECOND.id]
    assert charges == [
        ["sizes-clip", 50, "spent"],
        ["sizes-scales", 50, "spent"],
        ["sizes-scales-2", 25, "spent"],
    ]
