"""Faults, one window each: nothing is counted twice, and nothing that was stored is lost.

Real processes, real kills. What died with a session or a queue is sent again by the phones, which
follow the once-only rule. The table at the end says how it went.
"""

import asyncio
from signal import SIGCONT, SIGKILL, SIGTERM
from typing import Any

import pytest

from tests.faults.account import table
from tests.faults.garbage import Garbage
from tests.faults.phones import Person, wake
from tests.faults.scenario import Scenario, a_window
from tests.faults.world import World
from tests.parts import free_port
from tests.privacy.canary import sweep

pytestmark = pytest.mark.solo
# Processes that no fault here ends.
ALWAYS = ("web", "jobs", "beat")
MOST_GROWTH_MB = 100


@pytest.fixture
def full(size: str) -> bool:
    return size == "full"


def test_answers_that_are_never_heard_and_uploads_that_come_twice(world: World, full: bool) -> None:
    fault = "30 % of answers lost, uploads twice"
    account = run(world, fault, nothing, 5000 if full else 200, lost=0.3, twice=1.0)
    account.check_nothing_dropped()


def test_session_workers_that_are_killed(world: World, full: bool) -> None:
    account = run(world, "session workers killed", killed, 5000 if full else 200, 20 if full else 2)
    assert account.went_down


def test_workers_that_are_frozen_and_come_back(world: World, full: bool) -> None:
    account = run(world, "session workers frozen", frozen, 2000 if full else 200, 5 if full else 1)
    assert account.went_down


def test_workers_that_stop_under_load(world: World, full: bool) -> None:
    """They hold fewer than may be stored: those are handed over."""
    account = run(
        world, "session workers stopped", stopped, 1500 if full else 120, 10 if full else 1
    )
    account.check_nothing_dropped()


def test_a_valkey_that_comes_back_empty(world: World, full: bool) -> None:
    account = run(
        world, "Valkey killed, back empty", emptied, 2000 if full else 200, 5 if full else 1
    )
    assert account.went_down


def test_garbage_at_three_times_what_fits(world: World, full: bool) -> None:
    """The queue is short here; phones that were told to come back later do, and not before."""
    port = free_port()
    world.parts.start_front_end("narrow", port, MAYFLY_QUEUE_LENGTH="1")
    try:
        account = run(world, "70 % garbage", flooded, 1500 if full else 60, port=port)
    finally:
        world.parts.signal("narrow", SIGKILL)
    account.check_nothing_dropped()


def test_a_disk_that_is_full(world: World, full: bool) -> None:
    account = run(world, "disk full", filled, 2000 if full else 200)
    account.check_nothing_dropped()


def test_nothing_of_a_phone_is_left_anywhere(world: World) -> None:
    """After all of the above: what marked phones sent is in no file, table, log or queue."""
    assert world.secrets, "This looks at what the faults above have left: run it with them."
    assert sweep(world.parts.data, world.parts.queue, world.secrets) == []


def test_memory_is_flat(world: World) -> None:
    """Of what lives through all faults. The first window makes caches warm, and is left out."""
    grown = sum(account.growth_mb for account in world.accounts[1:])
    assert grown < MOST_GROWTH_MB, table(world.accounts)


def run(world: World, fault: str, act: Any, phones: int, *given: Any, **how: Any) -> Any:
    async def whole() -> Scenario:
        async with a_window(world, fault, phones, **how) as scenario:
            await act(scenario, *given)
        return scenario

    account = asyncio.run(whole()).account
    account.check()
    return account


async def nothing(scenario: Scenario) -> None:
    await wake(scenario.people)


async def killed(scenario: Scenario, kills: int) -> None:
    """While some are held, and others are on their way to the same session."""
    for early, late in halves(scenario.people, kills):
        holder = await scenario.a_holder(early)
        sending = asyncio.create_task(wake(late))
        await scenario.kill(holder.worker)
        await sending


async def stopped(scenario: Scenario, stops: int) -> None:
    """What a session holds goes on to its successor, or is stored, while devices keep coming."""
    parts = scenario.world.parts
    for early, late in halves(scenario.people, stops):
        holder = await scenario.a_holder(early)
        sending = asyncio.create_task(wake(late))
        parts.signal(holder.worker, SIGTERM)
        parts.start_worker()
        await sending
        process = parts.processes[holder.worker]
        await scenario.until(lambda one=process: one.poll() is not None, "a worker does not stop")
        assert process.returncode == 0
        scenario.kills += 1


async def frozen(scenario: Scenario, times: int) -> None:
    """First one that serves, then one that is about to flush: both find themselves over."""
    for early, late in halves(scenario.people, times):
        holder = await scenario.a_holder(early)
        await thaw_when_dead(scenario, holder.id, holder.worker)
        await wake(early)
        await a_zombie_that_flushes(scenario, late)
        scenario.kills += 2


async def a_zombie_that_flushes(scenario: Scenario, people: list[Person]) -> None:
    """It waits for somebody to take over, is frozen, and wakes when that one is there.

    Some of these people send at each try, so that there is always a session that holds some.
    """
    parts, share = scenario.world.parts, -(-len(people) // 10)
    for start in range(0, len(people), share):
        holder = await scenario.a_holder(people[start : start + share])
        for other in parts.workers - {holder.worker}:
            parts.signal(other, SIGKILL)
        parts.signal(holder.worker, SIGTERM)
        await scenario.until(lambda: scenario.state_of(holder.id) != "open", "it does not stop")  # noqa: B023
        parts.freeze(holder.worker)
        if scenario.state_of(holder.id) == "completing":
            await thaw_when_dead(scenario, holder.id, holder.worker)
            return
        # It was full, and has flushed before anybody could stop it.
        parts.signal(holder.worker, SIGCONT)
        parts.start_worker()
    raise AssertionError("No session that ends could be caught.")


async def thaw_when_dead(scenario: Scenario, session: str, worker: str) -> None:
    """Freeze a worker, and let it go on when its session is dead and another is in its place."""
    parts = scenario.world.parts
    parts.freeze(worker)
    parts.start_worker()
    await scenario.until(lambda: scenario.state_of(session) == "dead", "it is not declared dead")
    await scenario.until(scenario.world.serving, "nobody takes its place")
    parts.signal(worker, SIGCONT)
    over = f"Session {session} found itself over"
    await scenario.until(lambda: scenario.log_says(over), "the zombie does not notice")


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
    await scenario.settle()


async def flooded(scenario: Scenario) -> None:
    """Garbage and honest updates at once, more than three times what the queue has room for."""
    await scenario.until(scenario.is_answered, "the second front end does not answer")
    garbage = Garbage(scenario.api, scenario.world.task, scenario.window)
    flood = asyncio.create_task(garbage.flood())
    await scenario.until(lambda: garbage.sent_off, "the queue has room for everything")
    await wake(scenario.people)
    await scenario.until(lambda: garbage.sent > len(scenario.people) * 7 // 3, "it is a trickle")
    flood.cancel()
    await scenario.settle()
    scenario.uploads += garbage.sent
    assert garbage.sent_off > 0
    assert garbage.unsaid == 0
    assert sum(one.wire.sent_off for one in scenario.people) > 0
    assert sum(one.wire.too_early for one in scenario.people) == 0


async def filled(scenario: Scenario) -> None:
    """A session that is full cannot store its sum; once there is room again, it does."""
    parts, (early, late) = scenario.world.parts, halves(scenario.people, 1)[0]
    await scenario.a_holder(early)
    with parts.full_disk():
        await wake(late)
        began = parts.heard_from("jobs@")
        await scenario.until(lambda: parts.heard_from("jobs@") > began + 3, "no more heartbeats")
        assert all(one.poll() is None for name, one in parts.processes.items() if name in ALWAYS)


def halves(people: list[Person], times: int) -> list[tuple[list[Person], list[Person]]]:
    """So many groups, each in two halves; the last takes who is left."""
    share = len(people) // times
    groups = [people[n * share : (n + 1) * share] for n in range(times - 1)]
    groups.append(people[(times - 1) * share :])
    return [(group[: len(group) // 2], group[len(group) // 2 :]) for group in groups]
