"""The driver: phones of a made-up world through the real program, mishaps and outages included."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from aggregation.clock import SimulatedClock
from aggregation.pace import CALM, DAY, QUICK, WAITING, real_seconds
from devices_sim.device.wake_up import WakeUp
from devices_sim.fleet import driver
from devices_sim.fleet.driver import Driver, Parts
from devices_sim.fleet.living import LivingFleet
from devices_sim.fleet.source import MadeUp
from tests.aggregation.ondevice.examples import client_task
from tests.devices_sim.fleet.small_world import MONDAY, SECONDS, WEEK, real_catalog, world
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi, Fault

START = MONDAY - 3600


class Machine:
    """A machine whose time moves by a bit at each look at it: civil weeks pass in a moment."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 0.0005
        return self.seconds


class FlushingPeer(Peer):
    """Ends a session once it is asked how an update fared, as if its time had come."""

    def status(self, session_id: str, update: str) -> Any:
        session = self.sessions.get(session_id)
        if session is not None and not session.over:
            self.flush(session)
        return super().status(session_id, update)


class UntilThen(Driver):
    until = START

    def is_over(self) -> bool:
        return self.parts.now() >= self.until


def driven(
    tmp_path: Path, *, weeks: float, fault: Fault = lambda number, name: "", **scenario: Any
) -> tuple[Driver, Peer]:
    """Some weeks of some phones, with a peer whose grace is a week."""
    clock = SimulatedClock(tmp_path / "clock.json", machine=Machine())
    clock.start(datetime.fromtimestamp(START, UTC), speed=1e6)
    peer = FlushingPeer(clock)
    peer.hint = (6 * 3600, 12 * 3600)
    peer.add("trips", client_task(real_catalog()), approved_at=WEEK.start - timedelta(days=1))
    parts = Parts(real_catalog(), peer.pins, DirectApi(peer, fault), clock, Random(1))
    people = MadeUp(world("demo", **{"phones": 60, "most_wake_ups": 0, **scenario}), start=START)
    fleet = UntilThen(people, parts, say=lambda line: None)
    fleet.until = MONDAY + weeks * SECONDS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "_LOOK_SECONDS", 0.001)
        asyncio.run(fleet.run())
    return fleet, peer


def test_it_works(tmp_path: Path) -> None:
    fleet, peer = driven(tmp_path, weeks=3)
    report, found = fleet.report, [len(parts) for parts in peer.counted.values()]
    assert len(found) >= 2
    assert all(count > 20 for count in found)
    assert report.counted <= sum(found) <= report.counted + report.on_their_way
    assert report.events > 60 * 20
    assert not report.refusals
    assert report.phones == 60 >= peer.active > 40


def test_no_phone_counts_twice_whatever_goes_wrong(tmp_path: Path) -> None:
    wrong = {"crashing": 1.0, "wrong_clock": 0.3, "offline": 0.2}
    fleet, peer = driven(
        tmp_path,
        weeks=4,
        fault=lambda number, name: ("", "", "", "request", "answer")[number % 5],
        unusual=wrong,
    )
    assert fleet.report.counted > 20
    assert all(len(parts) <= 60 for parts in peer.counted.values())
    sessions = {(session, update): sealed for session, update, sealed in peer.arrived}
    assert len(sessions) == len({update for _, update in sessions})


def test_wiped_phones_are_new_installs(tmp_path: Path) -> None:
    _, peer = driven(tmp_path, weeks=8.5, unusual={"reinstalled": 1.0}, phones=30)
    assert peer.active > 30


def test_while_the_server_is_away_nobody_but_one_asks(tmp_path: Path) -> None:
    fleet, peer = driven(tmp_path, weeks=0.5, fault=lambda number, name: "request")
    # Those under way when the first noticed, and one at a time since.
    assert 0 < len(peer.calls) < 60 * 3
    assert fleet.report.unanswered > 0


def test_what_the_server_declines_is_in_the_lines_of_progress(tmp_path: Path) -> None:
    clock = SimulatedClock(tmp_path / "clock.json", machine=Machine())
    clock.start(datetime.fromtimestamp(START, UTC), speed=0)
    peer = Peer(clock)
    parts = Parts(real_catalog(), peer.pins, DirectApi(peer), clock, Random(1))
    fleet = Driver(MadeUp(world("demo", phones=3), start=START), parts, say=lambda line: None)
    assert fleet.progress().endswith("0 updates sent by 3 phones")
    for _ in range(3):
        fleet.report.add(
            WakeUp(stopped="The server declined. There is no population of this name.")
        )
    assert fleet.progress().endswith(
        "sent by 3 phones; 3 × The server declined. There is no population of this name."
    )


def test_a_phone_at_rest_is_small(tmp_path: Path) -> None:
    """All that there is of one, the last week's events and an update on its way included."""
    fleet, _ = driven(tmp_path, weeks=1.9)
    sizes = []
    for entry in fleet._queue:
        life = fleet.lives._lives.get(entry[1])
        if life is not None:
            parts = [entry, entry[0], life, life.given, life.phone, life.phone.storage]
            sizes.append(sum(map(sys.getsizeof, [*parts, life.phone.storage.packed])))
    assert len(sizes) > 40
    assert sum(sizes) / len(sizes) < 2000, sorted(sizes)


def week_of(clock: SimulatedClock) -> int:
    return int((clock.now().timestamp() - MONDAY) // SECONDS)


class Quiet(LivingFleet):
    def behind(self, seconds: float) -> None:
        self._queue = [(self.parts.now() - seconds, 0, None)]


@pytest.fixture
def living(tmp_path: Path) -> tuple[Quiet, SimulatedClock, Machine]:
    machine = Machine()
    clock = SimulatedClock(tmp_path / "clock.json", machine=lambda: machine.seconds)
    clock.start(datetime.fromtimestamp(START, UTC), speed=0)
    peer = Peer(clock)
    parts = Parts(real_catalog(), peer.pins, DirectApi(peer), clock, Random(1))
    return Quiet(world("demo", phones=60), parts, start=START), clock, machine


def test_a_week_takes_a_minute_until_the_third_release_then_ten(living: Any) -> None:
    fleet, clock, machine = living
    fleet.begin()
    weeks = []
    while len(weeks) < 6:
        began, week = machine.seconds, week_of(clock)
        while week_of(clock) == week:
            machine.seconds += 0.05
            fleet.look()
        weeks.append(machine.seconds - began)
    # Looks are a twentieth of a second apart. In the fourth full week, the calm begins on Tuesday.
    assert weeks[1:4] == pytest.approx([60, 60, 60], abs=1)
    assert weeks[4] == pytest.approx(30 + 300, abs=10)
    assert weeks[5] == pytest.approx(600, abs=5)


def test_the_clock_waits_for_phones_that_cannot_keep_up(living: Any) -> None:
    fleet, clock, machine = living
    fleet.begin()
    machine.seconds += 10
    fleet.behind(3 * 3600)
    fleet.look()
    assert clock.speed == 60
    fleet.behind(3600)
    fleet.look()
    assert clock.speed == 60
    fleet.behind(600)
    fleet.look()
    assert clock.speed == QUICK.speed(clock.now().timestamp())


@pytest.mark.parametrize("speed", [0.0, 1.0, 10_080.0])
def test_a_speed_that_somebody_set_stands(living: Any, speed: float) -> None:
    fleet, clock, _ = living
    fleet.begin()
    clock.set_speed(speed)
    fleet.begin()
    fleet.look()
    assert clock.speed == speed


def test_a_pace_tells_when_a_moment_comes() -> None:
    assert QUICK.real_seconds(MONDAY, MONDAY + SECONDS) == pytest.approx(60)
    assert CALM.real_seconds(MONDAY, MONDAY + SECONDS) == pytest.approx(600)
    assert QUICK.real_seconds(MONDAY - DAY / 2, MONDAY + DAY / 2) == pytest.approx(2.5 + 15)
    assert QUICK.real_seconds(MONDAY, MONDAY) == 0
    until = MONDAY + 8 * DAY
    for speed, seconds in [(QUICK.speed(MONDAY), 90), (CALM.speed(MONDAY), 900), (WAITING, 90)]:
        assert real_seconds(MONDAY, until, speed=speed) == pytest.approx(seconds)
    assert real_seconds(MONDAY, until, speed=DAY) == pytest.approx(8)
    assert real_seconds(MONDAY, until, speed=0) is None
