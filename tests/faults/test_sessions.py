"""Faults of session workers: killed, frozen, stopped, asked twice, and too late."""

import asyncio
from signal import SIGCONT, SIGTERM

import pytest

from tests.faults.conftest import Fault
from tests.faults.freezing import freeze_until_dead, one_about_to_flush, thaw
from tests.faults.phones import wake
from tests.faults.scenario import WINDOW, Scenario, halves

pytestmark = pytest.mark.solo
PARTIALS = f"SELECT r.id, r.state FROM collection_partial r {WINDOW}"


def test_session_workers_that_are_killed(fault: Fault, full: bool) -> None:
    phones, kills = (4000, 20) if full else (100, 1)
    account = fault("session workers killed", killed, phones, kills)
    assert account.went_down
    assert account.uploads > (5000 if full else 100)


def test_workers_that_are_frozen_and_come_back(fault: Fault, full: bool) -> None:
    phones, times = (200, 2) if full else (100, 1)
    assert fault("session workers frozen", frozen, phones, times).went_down


def test_workers_that_stop_under_load(fault: Fault, full: bool) -> None:
    """They hold fewer than may be stored: those are handed over."""
    phones, times = (240, 4) if full else (60, 1)
    fault("session workers stopped", stopped, phones, times).check_nothing_dropped()


def test_a_session_whose_message_comes_again(fault: Fault, full: bool) -> None:
    """As it would if a broker thought that its job was lost: nobody runs it a second time."""
    account = fault("session jobs delivered twice", delivered_again, 100 if full else 40)
    account.check_nothing_dropped()


def test_a_flush_after_the_release(fault: Fault, full: bool) -> None:
    """A worker that was about to flush sleeps until its window is released: nothing is added."""
    fault("flush after the release", too_late, 150 if full else 60)


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


async def frozen(scenario: Scenario, times: int) -> None:
    """First one that serves, then one that is about to flush: both find themselves over."""
    for early, late in halves(scenario.people, times):
        holder = await scenario.a_holder(early)
        await freeze_until_dead(scenario, holder)
        await thaw(scenario, holder)
        await wake(early)
        flushing = await one_about_to_flush(scenario, late)
        await freeze_until_dead(scenario, flushing)
        await thaw(scenario, flushing)


async def delivered_again(scenario: Scenario) -> None:
    parts = scenario.world.parts
    early, late = halves(scenario.people, 1)[0]
    holder = await scenario.a_holder(early)
    # A message is acknowledged before its job begins: none is left that could time out.
    assert not [one for one in parts.queue.hvals("unacked") if b"run_session" in one]
    parts.start_worker()
    parts.send("collection.run_session", holder.id, queue="sessions", times=5)
    await scenario.until(lambda: not parts.queue.llen("sessions"), "nobody takes the messages")
    await wake(late)
    assert scenario.world.sessions()[holder.id].worker == holder.worker
    assert scenario.state_of(holder.id) != "dead"


async def too_late(scenario: Scenario) -> None:
    early, late = halves(scenario.people, 1)[0]
    await wake(early)
    flushing = await one_about_to_flush(scenario, late)
    await freeze_until_dead(scenario, flushing)
    await scenario.close()
    before, partials = scenario.released(), scenario.rows(PARTIALS)
    parts = scenario.world.parts
    parts.signal(flushing.worker, SIGCONT)
    process = parts.processes[flushing.worker]
    await scenario.until(lambda: process.poll() is not None, "the zombie does not end")
    assert scenario.released() == before
    # Those of a released window are erased, sooner or later.
    after = scenario.rows(PARTIALS)
    assert [partial for partial, _ in after] == [partial for partial, _ in partials]
    assert "stored" not in [state for _, state in (*partials, *after)]
