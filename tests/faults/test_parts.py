"""Faults of what everything stands on: Valkey, the disk, the heartbeat."""

import time
from functools import partial
from signal import SIGCONT, SIGKILL, SIGTERM

import pytest

from aggregation.protocol.ids import fresh_update_id
from devices_sim.device.api_client import Meter
from devices_sim.device.once_only import Over
from tests.faults.conftest import Fault
from tests.faults.phones import wake
from tests.faults.scenario import ENOUGH, Scenario, halves
from tests.faults.world import Session

pytestmark = pytest.mark.solo
# Processes that no fault here ends.
ALWAYS = ("web", "jobs", "beat")
# Five minutes, at a heartbeat of two seconds.
FIVE_MINUTES_OF_BEATS = 150


def test_a_valkey_that_comes_back_empty(fault: Fault, full: bool) -> None:
    phones, kills = (600, 5) if full else (100, 1)
    assert fault("Valkey killed, back empty", emptied, phones, kills).went_down


def test_a_disk_that_is_full(fault: Fault) -> None:
    fault("disk full", filled, ENOUGH).check_nothing_dropped()


def test_a_heartbeat_that_stops(fault: Fault, full: bool) -> None:
    """Devices go on; what falls due waits, and is done once when the heart beats again."""
    beats = FIVE_MINUTES_OF_BEATS if full else 4
    fault("beat down for five minutes", without_beat, 100 if full else 40, beats)


async def emptied(scenario: Scenario, kills: int) -> None:
    """Queued updates are gone with it; sessions go on with what they hold."""
    parts = scenario.world.parts
    for early, late in halves(scenario.people, kills):
        (few, many) = early[: len(early) // 4], early[len(early) // 4 :]
        await scenario.a_holder(many)
        for worker in parts.workers:
            parts.freeze(worker)
        await wake(few)
        parts.signal("valkey", SIGKILL)
        parts.start_valkey()
        for worker in parts.workers:
            parts.signal(worker, SIGCONT)
        scenario.kills += 1
        await wake(late)
    await scenario.settle()
    # Sessions end, as they do at least every hour, and those whose update was lost hear of it.
    awaited = scenario.awaited()
    for worker in {one.worker for one in awaited}:
        parts.signal(worker, SIGTERM)
        parts.start_worker()
    await scenario.until(
        lambda: all(scenario.state_of(one.id) in ("flushed", "dead") for one in awaited),
        "a session does not end",
    )
    for one in awaited:
        await scenario.until_told(partial(is_over, scenario, one), "front ends know of no end")
    await scenario.settle()


async def is_over(scenario: Scenario, session: Session) -> bool:
    """Whether a phone would be told that its update is nowhere, as one that nobody sent is. For a
    moment, front ends say what they heard last."""
    api, update = scenario.api, fresh_update_id()
    return await api.status(session=session.id, update=update, meter=Meter()) == Over(frozenset())


async def filled(scenario: Scenario) -> None:
    """A sum that is due cannot be stored, nor released; once there is room again, both is done."""
    parts = scenario.world.parts
    await scenario.trickle()
    with parts.full_disk():
        await scenario.come_due()
        began = parts.heard_from("jobs@")
        await scenario.until(lambda: parts.heard_from("jobs@") > began + 3, "no more heartbeats")
        assert scenario.released() is None
        assert all(one.poll() is None for name, one in parts.processes.items() if name in ALWAYS)


async def without_beat(scenario: Scenario, beats: int) -> None:
    parts = scenario.world.parts
    parts.signal("beat", SIGKILL)
    scenario.kills += 1
    await scenario.until(parts.is_idle, "what it asked for is not done")
    await wake(scenario.people)
    await scenario.come_due()
    end = time.monotonic() + beats * float(parts.env["MAYFLY_HEARTBEAT_SECONDS"])
    await scenario.until(lambda: time.monotonic() > end, "time stands still")
    assert not scenario.is_collected()
    parts.start_beat()
