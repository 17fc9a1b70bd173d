"""Faults during a release: asked for often, killed half-way, restarted, partials exchanged."""

import asyncio
import sqlite3
from signal import SIGKILL, SIGTERM

import psycopg
import pytest

from tests.faults.conftest import Fault
from tests.faults.dying import PLACE, SETTINGS
from tests.faults.phones import wake
from tests.faults.scenario import ENOUGH, WINDOW, Scenario
from tests.faults.world import World

pytestmark = pytest.mark.solo
STORED = f"SELECT r.id FROM collection_partial r {WINDOW} AND r.state = 'stored'"
FEWER_WILL_DO = "UPDATE collection_session SET reason = 'quiet' WHERE state = 'open'"
MOVE = "UPDATE collection_partial SET id = ? WHERE id = ?"
ELSEWHERE = "f" * 32
SPENT = 'SELECT c.state FROM ledger_charge c WHERE c.task = ? AND c."window" = ?'
REFUSED = (sqlite3.IntegrityError, psycopg.errors.RaiseException, psycopg.IntegrityError)


def test_a_release_that_five_jobs_ask_for(fault: Fault, world: World, full: bool) -> None:
    """On two workers, at the same moment: one output, one debit."""
    world.parts.start_jobs("second")
    try:
        fault("release job five times, two workers", asked_often, 100 if full else 40)
    finally:
        world.parts.signal("second", SIGKILL)


def test_workers_that_die_between_noise_and_commit(fault: Fault, full: bool) -> None:
    """Nothing of the noise is left: whoever comes next draws anew, and one output is seen."""
    places = ["noised", "stored", "moved"] if full else ["noised"]
    fault("killed between noise and commit", died, ENOUGH, places)


def test_workers_that_die_with_what_was_too_small_to_be_stored(fault: Fault, full: bool) -> None:
    """It was in the dead worker's memory, and is still in that of the sessions it came from."""
    places = ["noised", "stored"] if full else ["noised"]
    fault("killed with small sums in memory", died, 40, places).check_all_counted()


def test_a_restart_of_everything(fault: Fault, full: bool) -> None:
    """One part after the other, as an upgrade does it, then all at once, as a power cut would."""
    fault("everything restarted during a release", restarted, 100 if full else 40)


def test_a_partial_in_another_row(fault: Fault) -> None:
    """Put there by somebody who can write to the database: it does not open."""
    # Two sessions may share them: one of the two stores its sum in any case.
    fault("partial moved to another row", moved, 2 * ENOUGH)


async def asked_often(scenario: Scenario) -> None:
    parts = scenario.world.parts
    await wake(scenario.people)
    await scenario.come_due()
    for job in ("releases.release_due_windows", "releases.render_releases"):
        await asyncio.to_thread(parts.send, job, times=5)
    await scenario.close()
    spent = parts.rows(SPENT, scenario.world.name, scenario.window.id)
    assert spent == [("spent",)]


async def died(scenario: Scenario, places: list[str]) -> None:
    parts, scenario.is_replaced = scenario.world.parts, True
    await scenario.trickle()
    await scenario.settle()
    await kill(scenario, "jobs")
    for place in places:
        parts.start_jobs("dying", DJANGO_SETTINGS_MODULE=SETTINGS, **{PLACE: place})
        await scenario.come_due()
        process = parts.processes["dying"]
        await scenario.until(lambda one=process: one.poll() is not None, "a worker does not die")
        assert process.returncode == -SIGKILL, place
        scenario.kills += 1
        assert scenario.released() is None, place
    parts.start_jobs()


async def restarted(scenario: Scenario) -> None:
    parts, scenario.is_replaced = scenario.world.parts, True
    await wake(scenario.people)
    await scenario.being_released()
    for worker in list(parts.workers):
        parts.start_worker()
        await stop(scenario, worker)
    for name, start in parts.starts.items():
        # What is handed over from memory to memory passes through it, and would be lost.
        if name != "valkey":
            await stop(scenario, name)
            start()
    await scenario.until(scenario.is_answered, "no front end answers")
    await scenario.until(scenario.released, "the window is not released")
    for name in [*parts.starts, *parts.workers]:
        await kill(scenario, name)
    for start in parts.starts.values():
        start()
    parts.start_worker()
    await scenario.until(scenario.is_answered, "no front end answers")


async def stop(scenario: Scenario, name: str) -> None:
    """As its supervisor stops it; beat has nothing to finish."""
    parts = scenario.world.parts
    if name == "beat":
        await kill(scenario, name)
        return
    parts.signal(name, SIGTERM)
    process = parts.processes[name]
    await scenario.until(lambda: process.poll() is not None, f"{name} does not stop")


async def kill(scenario: Scenario, name: str) -> None:
    await asyncio.to_thread(scenario.world.parts.signal, name, SIGKILL)
    scenario.kills += 1


async def moved(scenario: Scenario) -> None:
    parts, scenario.is_replaced = scenario.world.parts, True
    store = parts.store
    await scenario.trickle()
    await scenario.settle()
    # As the controller asks for it; once the window has closed, they wait for its release.
    with store.writing("collection_session", has_rules=True) as write:
        write(FEWER_WILL_DO)
    await scenario.until(lambda: scenario.rows(STORED), "no partial is stored")
    await kill(scenario, "jobs")
    await scenario.come_due()
    partial = scenario.rows(STORED)[0][0]
    with pytest.raises(REFUSED), store.writing("collection_partial", has_rules=True) as write:
        write(MOVE, ELSEWHERE, partial)
    with store.writing("collection_partial", has_rules=False) as write:
        write(MOVE, ELSEWHERE, partial)
    parts.start_jobs()
    words = f"Window {scenario.window.id} of {scenario.world.name} could not be released"
    await scenario.until(lambda: scenario.log_says(words), "nobody notices")
    assert scenario.released() is None
    with store.writing("collection_partial", has_rules=False) as write:
        write(MOVE, partial, ELSEWHERE)
