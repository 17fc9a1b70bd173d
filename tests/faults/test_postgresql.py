"""Faults of a database server: it crashes, it is away, and it does not say whether it committed."""

import asyncio
import os
from signal import SIGKILL

import pytest

from aggregation.protocol.ids import fresh_session_id
from devices_sim.device.api_client import Busy, Meter
from devices_sim.device.once_only import UnknownSession
from tests.faults.conftest import Fault
from tests.faults.phones import wake
from tests.faults.scenario import ENOUGH, Scenario, halves
from tests.faults.stores import Postgresql
from tests.parts import eventually

pytestmark = pytest.mark.solo
STORES = ["postgresql"]
NOBODY = "0" * 16


def test_a_database_that_crashes_during_uploads(fault: Fault, full: bool) -> None:
    phones, crashes = (400, 12) if full else (60, 1)
    account = fault("PostgreSQL crashes during uploads", crashed, phones, crashes)
    account.check_nothing_dropped()


def test_a_database_that_crashes_during_a_release(fault: Fault, full: bool) -> None:
    crashes = 4 if full else 1
    fault("PostgreSQL crashes during a release", crashed_late, ENOUGH, crashes)


def test_a_database_that_is_away(fault: Fault, full: bool) -> None:
    """Uploads go to their queues; what became of them nobody says who does not know."""
    fault("PostgreSQL away", away, 100 if full else 40).check_nothing_dropped()


def test_commits_that_nobody_hears_of(fault: Fault) -> None:
    """Half of them went through, half did not: the row says which."""
    fault("commits cut off", cut, ENOUGH).check_nothing_dropped()


async def crashed(scenario: Scenario, crashes: int) -> None:
    """Stopped at once; after that by the death of one of its processes, which takes all along."""
    store = store_of(scenario)
    for number, (early, late) in enumerate(halves(scenario.people, crashes)):
        sending = asyncio.create_task(wake([*early, *late]))
        if number and (backend := await asyncio.to_thread(store.a_backend, "sessions@")):
            os.kill(backend, SIGKILL)
        else:
            await asyncio.to_thread(store.crash)
        scenario.kills += 1
        await sending


async def crashed_late(scenario: Scenario, crashes: int) -> None:
    await scenario.trickle()
    await scenario.being_released()
    for _ in range(crashes):
        await asyncio.to_thread(store_of(scenario).crash)
        scenario.kills += 1


async def away(scenario: Scenario) -> None:
    store, (early, late) = store_of(scenario), halves(scenario.people, 1)[0]
    await wake(early)
    # Phones are offered tasks for a few seconds yet: on a busy machine there is no time to lose.
    await asyncio.to_thread(store.fall)
    scenario.kills += 1
    try:
        await wake(late)
        await asyncio.to_thread(eventually, store.is_down)
        said = {(one.did.stopped, *one.did.said) for one in scenario.people}
        assert scenario.tried >= len(scenario.people), said
        assert not any(one.has("counted") for one in scenario.people)
        # A session that nobody can look up is not unknown: a phone would give its update up.
        with pytest.raises(Busy):
            await ask(scenario)
    finally:
        await asyncio.to_thread(store.get_up)
    await scenario.until_told(lambda: is_unknown(scenario), "nobody is told the truth")


async def ask(scenario: Scenario) -> object:
    return await scenario.api.status(session=fresh_session_id(), update=NOBODY, meter=Meter())


async def is_unknown(scenario: Scenario) -> bool:
    try:
        return await ask(scenario) == UnknownSession()
    except Busy:
        return False


async def cut(scenario: Scenario) -> None:
    """Of the flush and of the release: one that got through after all, and one that did not."""
    cutter = store_of(scenario).cutter
    before = cutter.cuts
    await scenario.trickle()
    cutter.cut("sessions@", False, True, after='INSERT INTO "collection_partial"')
    cutter.cut("jobs", False, True, after='INSERT INTO "releases_release"')
    await scenario.come_due()
    await scenario.until(lambda: cutter.cuts == before + 4, "nothing is committed")
    await scenario.until(scenario.released, "the window is not released")


def store_of(scenario: Scenario) -> Postgresql:
    store = scenario.world.parts.store
    assert isinstance(store, Postgresql)
    return store
