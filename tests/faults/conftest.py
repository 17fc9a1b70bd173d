"""One system for all faults, with short heartbeats; a table of what became of them at the end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from aggregation.clock import SimulatedClock
from tests.faults.account import table
from tests.faults.parts import parts_of_a_system
from tests.faults.world import MAKE, SPEC, World
from tests.journeys.world import next_monday

SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "tests.privacy.without_noise_settings",
    "MAYFLY_CLOCK": "simulated",
    "MAYFLY_HEARTBEAT_SECONDS": "0.5",
    "MAYFLY_SNAPSHOT_SECONDS": "0.2",
    "MAYFLY_SESSION_LAPSE_SECONDS": "2",
    "MAYFLY_DRAIN_SECONDS": "20",
    # A week of hours, beside the tasks that ship.
    "MAYFLY_WEEKLY_EPSILON": "8",
}


@pytest.fixture(scope="session")
def world(
    prepared_data: Path, tmp_path_factory: pytest.TempPathFactory, size: str,
    pytestconfig: pytest.Config,
) -> Iterator[World]:  # fmt: skip
    data = tmp_path_factory.mktemp("faults") / "data"
    data.mkdir()
    SimulatedClock(data / "clock.json").start(next_monday() + timedelta(hours=11.5), speed=0)
    spec = SPEC.format(most=150 if size == "everyday" else 500)
    with parts_of_a_system(data, prepared_data, **SETTINGS) as parts:
        parts.start_front_end("web", parts.port)
        parts.start_others()
        parts.start_worker()
        world = World(parts, parts.shell(MAKE, spec).splitlines()[-1])
        yield world
        capture = pytestconfig.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled():
            print(f"\n\n{table(world.accounts)}")
