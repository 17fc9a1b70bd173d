"""The demo as `make run` starts it, with few phones: they live a week, and it is released."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from aggregation.clock import SimulatedClock
from tests.journeys.world import next_monday
from tests.parts import System, eventually, start_system

SCENARIO = """
description = "Sixty phones in two cities"
seed = 7
phones = 60
places = {2950159 = 1, 2988507 = 1}

[unusual]
wrong_clock = 0.05
crashing = 0.1
"""
READ = """
from portal.collection.models import ActiveDevices
from portal.releases.models import Release
print(sorted(f"{r.window.task.name} {r.window.window}" for r in Release.objects.all()),
      sum(row.count for row in ActiveDevices.objects.all()))
"""
MONDAY = next_monday()


@pytest.fixture
def demo(prepared_data: Path, tmp_path: Path) -> Iterator[System]:
    (data := tmp_path / "data").mkdir()
    (scenario := tmp_path / "few.toml").write_text(SCENARIO)
    SimulatedClock(data / "clock.json").start(MONDAY - timedelta(hours=1), speed=0)
    system = start_system(data, prepared=prepared_data, MAYFLY_SCENARIO=str(scenario))
    try:
        yield system
    finally:
        system.stop()


@pytest.mark.solo
def test_phones_live_a_week_and_it_is_released(demo: System) -> None:
    clock = SimulatedClock(demo.data / "clock.json")
    eventually(lambda: not clock.is_new, within=90, log=demo.log)
    # Quicker than the demo: a speed that somebody set stands.
    _go(demo, clock, until=MONDAY + timedelta(days=7), speed=100_000)
    _go(demo, clock, until=MONDAY + timedelta(days=10), speed=10_000)
    clock.set_speed(1)
    week = f"{MONDAY:%Y-%m-%d}"
    both = f"['country-modal-split {week}', 'weekly-trips {week}']"
    found = eventually(lambda: _found(demo, both), log=demo.log)
    assert 20 < int(found.rsplit(" ", 1)[1]) <= 60
    demo.stop()
    assert "Traceback" not in demo.log.read_text()
    (phones,) = (demo.data / "phones").iterdir()
    assert phones.stat().st_mode & 0o777 == 0o600
    sent = next(line for line in demo.log.read_text().splitlines() if "updates sent: " in line)
    assert int(sent.split("updates sent: ")[1].split(",")[0]) > 0


def _go(demo: System, clock: SimulatedClock, *, until: datetime, speed: float) -> None:
    clock.set_speed(speed)
    eventually(lambda: clock.now() >= until, log=demo.log)


def _found(demo: System, both: str) -> str:
    found = demo.shell(READ)
    return found if found.startswith(both) else ""
