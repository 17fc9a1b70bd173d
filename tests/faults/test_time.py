"""Faults of civil time, on a task of weeks: a clock that jumps, keys and sums that expire."""

import asyncio
from datetime import timedelta
from functools import partial
from signal import SIGKILL

import pytest

from aggregation.protocol.windows import Unit
from devices_sim.simulation.system import is_closed
from tests.faults.conftest import Fault
from tests.faults.phones import wake
from tests.faults.scenario import WINDOW, Scenario
from tests.faults.world import World

pytestmark = pytest.mark.solo
PARTIALS = f"SELECT r.level, r.state, r.body FROM collection_partial r {WINDOW}"
# Of a session, so that one is full long before the window closes, and phones for that.
MOST, FULL = 100, 150
EIGHT_DAYS, A_DAY = timedelta(days=8), timedelta(days=1)


@pytest.fixture
def weeks(world: World) -> World:
    """The same system with a task of weeks, two days of which are grace."""
    if world.unit is not Unit.WEEK:
        world.run_task("weeks", Unit.WEEK, grace_hours=48, most=MOST)
    return world


def test_keys_that_change_during_collection(fault: Fault, weeks: World) -> None:
    """Partials of two days have two keys, of which the first is gone before the release; approvals
    and sessions are signed by others than before, which were announced to phones."""
    fault("keys rotate during collection", over_midnight, FULL + 30)


def test_a_clock_that_jumps(fault: Fault, weeks: World, full: bool) -> None:
    """Eight days ahead, and back: what is released stays so, and nobody sends a window again.

    They are fewer than a session stores: what is stored is past its time eight days later.
    """
    fault("clock +8 and −8 days", jumped, 90 if full else 40)


def test_sums_whose_time_is_over(fault: Fault, weeks: World) -> None:
    """All was down for eight days: what waited is erased unread, and the window is released."""
    fault("partials expire while all is down", expired, FULL)


async def over_midnight(scenario: Scenario) -> None:
    world, early, late = scenario.world, scenario.people[:FULL], scenario.people[FULL:]
    await scenario.send_until(lambda: keys(scenario), early)
    await scenario.settle()
    (monday,) = keys(scenario)
    for kind in ("approval", "worker"):
        await asyncio.to_thread(world.parts.manage, "rotate_keys", kind, "--by", "operator")
    for worker in world.parts.workers:
        await scenario.kill(worker)
    world.clock.set(scenario.window.end + A_DAY + timedelta(minutes=5))
    await scenario.until(world.serving, "no session serves the window")
    await wake(late)
    await scenario.settle()
    await scenario.until(lambda: monday not in keys(scenario), "a key outlives its day")
    assert keys(scenario)


async def jumped(scenario: Scenario) -> None:
    world = scenario.world
    world.clock.set(scenario.window.start - A_DAY)
    late = [world.install(scenario.api, {}) for _ in range(10)]
    world.clock.set(scenario.window.start + A_DAY)
    for one in late:
        one.travel(world.clock.now(), world.catalog)
    world.clock.set(scenario.window.end + timedelta(minutes=5))
    await wake(scenario.people)
    await scenario.come_due(scenario.window.end + EIGHT_DAYS)
    await scenario.until(scenario.released, "the window is not released")
    before, sent = scenario.released(), scenario.tried
    url = f"http://127.0.0.1:{scenario.port}"
    closed = partial(is_closed, url, [world.name], scenario.window.id)
    await scenario.until_told(closed, "phones are offered a window that is released")
    await wake([*scenario.people, *late])
    world.clock.set(scenario.window.end + timedelta(minutes=10))
    await scenario.until(world.is_told_the_time, "front ends are told another time")
    await wake([*scenario.people, *late])
    assert scenario.tried == sent
    assert not any(one.wire.uploads for one in late)
    assert scenario.released() == before


async def expired(scenario: Scenario) -> None:
    parts, scenario.is_replaced, scenario.has_expired = scenario.world.parts, True, True
    await scenario.send_until(lambda: keys(scenario), scenario.people)
    await scenario.note_receipts()
    for name in ("beat", "jobs", "web", *parts.workers):
        await asyncio.to_thread(parts.signal, name, SIGKILL)
        scenario.kills += 1
    parts.forget_jobs()  # one would release the window first
    scenario.world.clock.set(scenario.window.end + 2 * EIGHT_DAYS)
    parts.start_jobs()
    parts.send("collection.erase_partials")
    await scenario.until(lambda: not keys(scenario), "a key outlives its time")
    await scenario.until(lambda: are_erased(scenario), "a row outlives its key")
    parts.start_front_end("web", parts.port)
    parts.start_beat()
    parts.start_worker()


def are_erased(scenario: Scenario) -> bool:
    """Keys go first, their rows a moment later."""
    return {(state, bytes(body)) for _, state, body in scenario.rows(PARTIALS)} == {
        ("expired", b"")
    }


def keys(scenario: Scenario) -> set[str]:
    """The files of keys that can open something of this window."""
    folder = scenario.world.parts.data / "keys" / "partials"
    start = f"{scenario.world.name}.{scenario.window.id}."
    return {path.name for path in folder.glob(f"{start}*")} if folder.exists() else set()
