"""Phones at rest: a fleet that was stopped goes on where it was, and nobody counts twice for it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from aggregation.clock import SimulatedClock
from devices_sim.fleet import driver, resting
from devices_sim.fleet.driver import Parts
from devices_sim.fleet.living import LivingFleet
from devices_sim.fleet.scenario import load_scenario
from tests.aggregation.ondevice.examples import client_task
from tests.devices_sim.fleet.small_world import MONDAY, SECONDS, WEEK, real_catalog, world
from tests.devices_sim.fleet.test_driver import START, FlushingPeer, Machine
from tests.devices_sim.peer_api import DirectApi

PHONES = 60


class UntilThen(LivingFleet):
    until = START

    def is_over(self) -> bool:
        return self.parts.now() >= self.until


class Fleets:
    """One fleet after another, over the same clock, portal and folder."""

    def __init__(self, folder: Path) -> None:
        self.clock = SimulatedClock(folder / "clock.json", machine=Machine())
        self.clock.start(datetime.fromtimestamp(START, UTC), speed=1e6)
        self.peer = FlushingPeer(self.clock)
        self.peer.hint = (6 * 3600, 12 * 3600)
        approved_at = WEEK.start - timedelta(days=1)
        self.peer.add("trips", client_task(real_catalog()), approved_at=approved_at)
        self.place = folder / "phones" / "demo"

    def run(self, *, weeks: float) -> LivingFleet:
        """Go on where the last one was, until so many weeks have passed."""
        parts = Parts(real_catalog(), self.peer.pins, DirectApi(self.peer), self.clock, Random(1))
        rested = resting.take(self.place)
        start = rested.start if rested else parts.now()
        made = world("demo", phones=PHONES, most_wake_ups=0)
        fleet = UntilThen(made, parts, start=start, say=lambda line: None)
        fleet.resume(rested.phones if rested else ())
        fleet.until = MONDAY + weeks * SECONDS
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver, "_LOOK_SECONDS", 0.001)
            asyncio.run(fleet.run())
        resting.keep(resting.Rest(start, fleet.lives.at_rest()), self.place)
        return fleet

    def counted(self) -> list[int]:
        """Phones in each window, the oldest first."""
        return [len(self.peer.counted[key]) for key in sorted(self.peer.counted)]


def test_it_works(tmp_path: Path) -> None:
    """Stopped in the middle of a week: all of that week is told, by the phones that began it."""
    fleets = Fleets(tmp_path)
    fleets.run(weeks=1.5)
    fleets.run(weeks=3.5)
    found = fleets.counted()
    assert len(found) >= 3
    assert all(20 < count <= PHONES for count in found)
    assert fleets.peer.active <= PHONES


def test_those_who_could_not_be_kept_are_new_installs(tmp_path: Path) -> None:
    fleets = Fleets(tmp_path)
    fleets.run(weeks=1.5)
    fleets.place.unlink()
    fleets.run(weeks=2.9)
    assert len(fleets.counted()) == 1
    assert fleets.peer.active > PHONES


def test_updates_on_their_way_are_asked_after(tmp_path: Path) -> None:
    """Stopped again and again while phones send: what one has sent, it knows after each start."""
    fleets = Fleets(tmp_path)
    reports = [fleets.run(weeks=1 + n / 28).report for n in range(1, 29)]
    assert sum(report.sent for report in reports) > 40
    assert any(report.on_their_way for report in reports[:-1])
    counted, found = sum(report.counted for report in reports), sum(fleets.counted())
    assert counted <= found <= counted + reports[-1].on_their_way
    assert max(fleets.counted()) <= PHONES


def test_what_was_kept_is_taken_once(tmp_path: Path) -> None:
    place = tmp_path / "phones" / "demo"
    phone = resting.Resting(7, b"packed", 20, 1.5, True)
    resting.keep(resting.Rest(START, [phone]), place)
    assert place.stat().st_mode & 0o777 == 0o600
    assert place.parent.stat().st_mode & 0o777 == 0o700
    found = resting.take(place)
    assert found is not None
    assert (found.start, list(found.phones)) == (START, [phone])
    assert "packed" not in repr(found) + repr(phone)
    assert resting.take(place) is None


def test_what_cannot_be_read_is_nothing_and_gone(tmp_path: Path) -> None:
    (place := tmp_path / "demo").write_bytes(b"no phones")
    assert resting.take(place) is None
    assert not place.exists()


def test_each_world_and_portal_has_a_place_of_its_own(tmp_path: Path) -> None:
    demo = load_scenario("demo")
    places = {
        resting.place_of(tmp_path, scenario, url)
        for scenario in (demo, load_scenario("demo", seed=8), load_scenario("holiday"))
        for url in ("http://127.0.0.1:8000", "http://127.0.0.1:8001")
    }
    assert len(places) == 6
    assert resting.place_of(tmp_path, load_scenario("demo"), "http://127.0.0.1:8000") in places


def test_three_releases_come_quickly_after_each_start(tmp_path: Path) -> None:
    fleets = Fleets(tmp_path)
    assert fleets.run(weeks=0.5)._calm_from == MONDAY + 3 * SECONDS + 86_400
    assert fleets.run(weeks=1.5)._calm_from == MONDAY + 4 * SECONDS + 86_400
