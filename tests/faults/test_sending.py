"""Faults between phones and queues: bad networks, false phones, front ends that are killed."""

import asyncio
from signal import SIGKILL

import pytest

from tests.faults.conftest import Fault
from tests.faults.garbage import Garbage
from tests.faults.phones import wake
from tests.faults.scenario import Scenario, halves
from tests.faults.world import World
from tests.parts import free_port

pytestmark = pytest.mark.solo


def test_answers_that_are_never_heard_and_uploads_that_come_twice(fault: Fault, full: bool) -> None:
    name, phones = "30 % of answers lost, uploads twice", 1500 if full else 100
    fault(name, nothing, phones, lost=0.3, twice=1.0).check_nothing_dropped()


def test_front_ends_that_are_killed(fault: Fault, world: World, full: bool) -> None:
    """While uploads are under way: who heard nothing asks, and sends the same again."""
    port = free_port()
    world.parts.start_front_end("second", port)
    account = fault(
        "front end killed during uploads", killed, 400 if full else 40, 10 if full else 1, port=port
    )
    world.parts.signal("second", SIGKILL)
    account.check_nothing_dropped()


def test_garbage_at_three_times_what_fits(fault: Fault, world: World, full: bool) -> None:
    """The queue is short here; phones that were told to come back later do, and not before."""
    port = free_port()
    world.parts.start_front_end("narrow", port, MAYFLY_QUEUE_LENGTH="1")
    try:
        account = fault("70 % garbage", flooded, 400 if full else 40, port=port)
    finally:
        world.parts.signal("narrow", SIGKILL)
    account.check_nothing_dropped()


async def nothing(scenario: Scenario) -> None:
    await wake(scenario.people)


async def killed(scenario: Scenario, kills: int) -> None:
    parts = scenario.world.parts
    await scenario.until(scenario.is_answered, "the second front end does not answer")
    for early, late in halves(scenario.people, kills):
        before = scenario.tried
        sending = asyncio.create_task(wake([*early, *late]))
        await scenario.until(lambda was=before: scenario.tried > was, "nobody sends")
        await asyncio.to_thread(parts.signal, "second", SIGKILL)
        scenario.kills += 1
        parts.start_front_end("second", scenario.port)
        await sending
        await scenario.until(scenario.is_answered, "no front end answers")
    # What a restart forgets is fetched again before phones are told anything.
    await scenario.until(scenario.world.serving, "no session serves the window")


async def flooded(scenario: Scenario) -> None:
    """Garbage and honest updates at once, more than three times what the queue has room for."""
    await scenario.until(scenario.is_answered, "the second front end does not answer")
    world = scenario.world
    garbage = Garbage(scenario.api, world.name, world.task, scenario.window)
    flood = asyncio.create_task(garbage.flood())
    await scenario.until(lambda: garbage.sent_off, "the queue has room for everything")
    # A few at a time: all at once could find it just empty, and be taken before it says so.
    share = -(-len(scenario.people) // 10)
    for start in range(0, len(scenario.people), share):
        await wake(scenario.people[start : start + share])
    await scenario.until(lambda: garbage.sent > len(scenario.people) * 7 // 3, "it is a trickle")
    flood.cancel()
    await scenario.settle()
    scenario.uploads += garbage.sent
    assert garbage.sent_off > 0
    assert garbage.unsaid == 0
    assert sum(one.wire.sent_off for one in scenario.people) > 0
    assert sum(one.wire.too_early for one in scenario.people) == 0
