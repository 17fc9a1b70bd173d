"""Many machines: some die and some are cut off, while devices send and while a window is released.

Two front ends, two session workers, two job workers and two beats, each in a network namespace of
its own where that can be had, started by the units that ship; a PostgreSQL and two Valkeys in
theirs. The test is the service managers, and what is between devices and the front ends.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from devices_sim.device.api_client import HttpApi
from devices_sim.device.http import Http
from tests.faults.phones import Person, wake
from tests.machines.installation import UNITS, Installation, installed
from tests.machines.network import network
from tests.machines.window import TASK, Balancer, OneWindow
from tests.parts import eventually

pytestmark = pytest.mark.solo
# Generous: nothing is asserted about time.
WITHIN_SECONDS = 300.0
JOBS = {"jobs1", "jobs2"}
# What a rolling restart takes in turn; beat has nothing to finish.
ALL = ("web1", "web2", "sessions1", "sessions2", "jobs1", "jobs2")
STATES = """
SELECT s.id, s.state, s.worker, s.reason, w.window, w.state, a.times, a.next_at - now()
FROM collection_session s LEFT JOIN tasks_taskwindow w ON w.id = s.collects_id
LEFT JOIN releases_attempt a ON a.window_id = w.id ORDER BY s.requested_at
"""
# A worker that was away finds its collector dead, or, after half a minute, its connection closed.
REFUSED = ("is not being released by this collector any more", "could not be released")


@pytest.fixture(scope="module")
def system(prepared_data: Path, pytestconfig: pytest.Config) -> Iterator[Installation]:
    folder = Path(tempfile.mkdtemp(prefix="mayfly-machines-"))
    folder.chmod(0o711)  # PostgreSQL is another user
    try:
        with network() as cables, installed(folder, prepared_data, cables) as made:
            capture = pytestconfig.pluginmanager.getplugin("capturemanager")
            with capture.global_and_fixture_disabled():
                print(f"\nmachines: {len(UNITS) + 3} machines as {cables.kind}")
            yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_a_window_is_released_once_whatever_happens_to_machines(
    system: Installation, prepared_data: Path, size: str
) -> None:
    asyncio.run(story(system, prepared_data / "streams", 150 if size == "everyday" else 2000))


async def story(system: Installation, streams: Path, phones: int) -> None:
    window = OneWindow(system, streams)
    async with Http(system.url("web1")) as first, Http(system.url("web2")) as second:
        people = window.people(HttpApi(Balancer(first, second)), phones)  # type: ignore[arg-type]
        crowd = Crowd(window, people)
        await crowd.until(window.serving, "nobody serves the window")
        await machines_that_die(crowd)
        await a_session_worker_that_is_cut_off(crowd)
        await a_rolling_restart(crowd, ALL if phones > 150 else ALL[2:4])
        await asyncio.to_thread(system.follow, "backup")
        zombie = await a_release_that_is_interrupted_twice(crowd)
        noised = await crowd.until(window.released, "the window is not released")
        refused = lambda: any(system.said(zombie, words) for words in REFUSED)  # noqa: E731
        await crowd.until(refused, "the zombie does not notice")
    assert window.times_counted(people, noised) == [1] * phones
    assert all(len(person.wire.queued) >= 3 for person in people[: phones // 2])
    check_the_records(window)
    check_what_readers_see(window)
    check_that_a_backup_spends_nothing_again(window)


async def machines_that_die(crowd: Crowd) -> None:
    """Half the phones have sent, the others are about to: a front end dies, a beat, and the worker
    that holds everything. Whoever has sent sends again."""
    system, window, early = crowd.system, crowd.window, crowd.people[: len(crowd.people) // 2]
    holder = await crowd.send_until(early, lambda: window.holder(len(early)))
    sending = asyncio.create_task(wake(crowd.people))
    for name in ("web1", "beat1", holder.machine):
        await asyncio.to_thread(system.kill, name)
    await sending
    for name in ("web1", "beat1"):
        system.start(name)
    await crowd.send_until(crowd.people, lambda: window.holder(len(crowd.people)))
    assert window.sessions()[holder.id].state == "dead"


async def a_session_worker_that_is_cut_off(crowd: Crowd) -> None:
    """It was told to stop, waits for somebody who takes over, and loses the network. It finds
    somebody when it is back, and may not store: what it holds has been sent again."""
    system, window = crowd.system, crowd.window
    holder = await crowd.until(lambda: window.holder(len(crowd.people)), "nobody holds all")
    cut_off, other = holder.machine, ({"sessions1", "sessions2"} - {holder.machine}).pop()
    system.tell_to_stop(cut_off)
    await crowd.until(lambda: window.state_of(holder.id) == "completing", "it does not stop")
    system.cut(cut_off)
    await crowd.until(lambda: window.state_of(holder.id) == "dead", "it is not declared dead")
    system.start(other)
    await crowd.send_until(crowd.people, lambda: window.holder(len(crowd.people)))
    system.join(cut_off)
    over = f"Session {holder.id} found itself over"
    await crowd.until(lambda: system.said(cut_off, over), "the zombie does not notice")
    process = system.processes[cut_off]
    await crowd.until(lambda: process.poll() is not None, "it does not stop")
    assert process.returncode == 0
    system.start(cut_off)


async def a_rolling_restart(crowd: Crowd, names: Sequence[str]) -> None:
    """One machine after the other is told to stop, and started again, as in an upgrade. Sessions
    store or hand over what they hold: nobody sends again."""
    system, people = crowd.system, crowd.people
    sent = [len(person.wire.queued) for person in people]
    for name in names:
        await crowd.until(lambda one=name: system.is_up(one), f"{name} does not come up")
    for name in names:
        process = system.processes[name]
        system.tell_to_stop(name)
        await crowd.until(lambda one=process: one.poll() is not None, f"{name} does not stop")
        assert process.returncode == 0
        system.start(name)
        await crowd.until(lambda one=name: system.is_up(one), f"{name} does not come up")
    await crowd.send_until(people, lambda: not crowd.window.without_a_place(people))
    assert [len(person.wire.queued) for person in people] == sent


async def a_release_that_is_interrupted_twice(crowd: Crowd) -> str:
    """A job worker dies with the noised numbers in its memory, and the next loses the network. The
    first one, started again, releases; the other comes back, and may not. Gives who that was.

    Two beats run here, though one is enough: they must do no harm.
    """
    system, window = crowd.system, crowd.window
    system.start("beat2")
    for name in JOBS:
        system.hold_file(name).touch()
    window.come_to_its_end()
    first = await crowd.until(lambda: system.at_hold(JOBS), "nobody releases")
    await asyncio.to_thread(system.kill, first)
    second = await crowd.until(lambda: system.at_hold(JOBS - {first}), "the other does not release")
    system.cut(second)
    system.hold_file(first).unlink()
    system.start(first)
    await crowd.until(window.released, "the window is not released")
    system.join(second)
    system.hold_file(second).unlink()
    return second


def check_the_records(window: OneWindow) -> None:
    """One release, spent once; three collectors, of which one lived."""
    rows, name = window.system.rows, window.window.id
    assert rows("SELECT count(*) FROM releases_release") == [(1,)]
    assert rows("SELECT count(*) FROM audit_entry WHERE action = 'release.made'") == [(1,)]
    charged = rows('SELECT state, amount FROM ledger_charge WHERE "window" = %s', name)
    assert charged == [("spent", 1)]
    states = sorted(one.state for one in window.collectors())
    assert states == ["dead", "dead", "flushed"]


def check_what_readers_see(window: OneWindow) -> None:
    """The same bytes from both front ends, one of which was killed meanwhile."""
    for file in ("manifest.json", "manifest.sig", "cells.parquet"):
        path = f"/releases/{TASK}/{window.window.id}/files/{file}"
        found = [
            eventually(lambda u=url: fetched(f"{u}{path}"))  # noqa: B023
            for url in map(window.system.url, ("web1", "web2"))
        ]
        assert found[0] == found[1], file


def check_that_a_backup_spends_nothing_again(window: OneWindow) -> None:
    """It was made before the release, and knows nothing of it: nobody releases the window again."""
    system = window.system
    for name in UNITS:
        system.kill(name)
    system.follow("restore")
    assert window.released() is None
    for name in ("web1", "jobs1", "beat1"):
        system.start(name)
    eventually(lambda: "accept_restore" in health(system.url("web1")), within=WITHIN_SECONDS)
    assert system.rows("SELECT count(*) FROM releases_release") == [(0,)]
    system.follow("accept")
    eventually(lambda: "accept_restore" not in health(system.url("web1")))
    states = 'SELECT state FROM tasks_taskwindow WHERE "window" = %s'
    assert system.rows(states, window.window.id) == [("skipped",)]
    charges = 'SELECT DISTINCT state FROM ledger_charge WHERE "window" = %s'
    assert system.rows(charges, window.window.id) == [("spent",)]


def health(url: str) -> str:
    """Whatever the status: it is 503 while anything is missing."""
    wanted = {"X-Forwarded-Proto": "https", "Accept": "application/json"}
    try:
        request = urllib.request.Request(f"{url}/health", headers=wanted)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return str(answer.read())
    except urllib.error.HTTPError as error:
        return str(error.read())


def fetched(url: str) -> bytes:
    request = urllib.request.Request(url, headers={"X-Forwarded-Proto": "https"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return bytes(answer.read())


class Crowd:
    """The phones of the window, and waiting for what becomes of them."""

    def __init__(self, window: OneWindow, people: Sequence[Person]) -> None:
        self.window, self.system, self.people = window, window.system, people

    async def until(self, condition: Callable[[], Any], what: str) -> Any:
        """Wait for something of the system, in a thread: phones go on meanwhile."""
        deadline = time.monotonic() + WITHIN_SECONDS
        while not (found := await asyncio.to_thread(condition)):
            assert time.monotonic() < deadline, self._lament(what)
            await asyncio.sleep(0.05)
        return found

    def _lament(self, what: str) -> str:
        """What did not happen, how sessions and windows are, and what machines said last."""
        states = self.system.rows(STATES)
        return f"{what}: {states}\n{self.system.logs()}"

    async def send_until(self, people: Sequence[Person], condition: Callable[[], Any]) -> Any:
        """Wake those of these who have no place, again and again."""
        deadline = time.monotonic() + WITHIN_SECONDS
        while not (found := await asyncio.to_thread(condition)):
            awaited = await asyncio.to_thread(self.window.without_a_place, people)
            what = f"{len(awaited)} of {len(people)} find no place"
            assert time.monotonic() < deadline, self._lament(what)
            await wake(awaited)
            await asyncio.sleep(0.1)
        return found
