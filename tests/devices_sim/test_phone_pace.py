"""When a phone does something, and for how long: conditions, runs a day, hints, quiet, a minute."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from aggregation.clock import ManualClock
from aggregation.protocol.client_task import Schedule
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit
from devices_sim.device.conditions import Conditions
from tests.aggregation.ondevice.examples import WEEK, client_task, trip
from tests.devices_sim.conftest import MakePhone
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi
from tests.devices_sim.waking import BEFORE, SOON, after_the_week, awake, over_http


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        (Conditions(network=False), "There is no network."),
        (Conditions(battery_percent=29), "The battery is at 29 %, below 30 %."),
    ],
)
def test_it_needs_network_and_battery(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, conditions: Conditions, reason: str
) -> None:
    phone = after_the_week(make_phone(), clock)
    assert awake(phone, conditions).stopped == reason
    assert peer.calls == []


def test_it_keeps_a_tasks_own_conditions(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    peer.revisions.clear()
    schedule = Schedule(max_runs_per_day=1, conditions=("idle", "charging"))
    peer.add("weekly-trips", client_task(catalog, schedule=schedule), approved_at=BEFORE)
    phone = after_the_week(make_phone(), clock)
    assert awake(phone, Conditions(charging=False)).sent == []
    assert awake(phone, Conditions(charging=True, idle=False)).sent == []
    assert len(awake(phone, Conditions(charging=True)).sent) == 1


def test_it_runs_a_task_so_often_a_day(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    peer.revisions.clear()
    hourly = client_task(catalog, window_unit=Unit.HOUR, epsilon="0.01")
    peer.add("hourly", hourly, approved_at=BEFORE, grace_hours=240)
    phone = make_phone()
    phone.record("trips", *[trip(after=timedelta(hours=h, minutes=1)) for h in range(30)])
    clock.advance(timedelta(hours=20))
    assert [len(sent.windows) for sent in awake(phone).sent] == [16]
    clock.advance(timedelta(hours=2))
    assert awake(phone).said == ["hourly: It has run often enough today."]
    clock.advance(timedelta(hours=3))
    assert [len(sent.windows) for sent in awake(phone).sent] == [9]


def test_what_goes_out_again_is_no_run_of_the_day(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    peer.revisions.clear()
    hourly = client_task(catalog, window_unit=Unit.HOUR, epsilon="0.01")
    peer.add("hourly", hourly, approved_at=BEFORE, grace_hours=240)
    phone = make_phone()
    phone.record("trips", *[trip(after=timedelta(hours=h, minutes=1)) for h in range(30)])
    clock.advance(timedelta(hours=20))
    (first,) = awake(phone).sent
    peer.kill(next(iter(peer.sessions.values())))
    clock.advance(timedelta(hours=5))
    assert [sent.windows for sent in awake(phone).sent] == [first.windows]
    assert [len(sent.windows) for sent in awake(phone).sent] == [9]
    clock.advance(timedelta(hours=1))
    assert awake(phone).said == ["hourly: It has run often enough today."]


def test_it_waits_for_the_hint(make_phone: MakePhone, peer: Peer, clock: ManualClock) -> None:
    peer.hint = (3600, 7200)
    phone = make_phone()
    first = awake(phone)
    assert 3600 <= first.not_before - phone.now() <= 7200
    clock.advance(timedelta(seconds=3599))
    assert awake(phone).stopped == "The server asked to wait with the next check-in."
    clock.advance(timedelta(seconds=3601))
    assert awake(phone).stopped == ""
    assert peer.calls.count("check_in") == 2


def test_a_hint_of_a_clock_that_was_wrong_is_void(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    peer.hint = (3600, 7200)
    phone = make_phone()
    clock.advance(timedelta(days=365))
    awake(phone)
    clock.set(WEEK.start + SOON)
    assert awake(phone).stopped == ""


@pytest.mark.parametrize("lost", ["assignments", "client_task"])
def test_what_got_lost_after_the_check_in_is_taken_up_soon(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, lost: str
) -> None:
    peer.hint = (7 * 86_400, 7 * 86_400)
    once = [lost]
    api = DirectApi(
        peer, lambda number, name: "answer" if name in once and not once.remove(name) else ""
    )
    phone = after_the_week(make_phone(api=api), clock)
    did = awake(phone)
    assert 900 <= did.not_before - phone.now() <= 1350
    clock.advance(timedelta(seconds=1350))
    assert len(awake(phone).sent) == 1


def test_what_must_go_again_does_not_wait_for_the_hint(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    """Nor does it, if the check-in gets lost just then."""
    peer.hint = (5 * 86_400, 5 * 86_400)
    faults = {"check_in": ["", "request"]}
    api = DirectApi(peer, lambda number, name: faults[name].pop(0) if faults.get(name) else "")
    phone = after_the_week(make_phone(api=api), clock)
    awake(phone)
    (session,) = peer.sessions.values()
    peer.kill(session)
    did = awake(phone)
    assert (did.again, did.stopped) == (1, "The server did not answer.")
    assert len(awake(phone).sent) == 1


def test_an_endless_hint_ends(make_phone: MakePhone, peer: Peer, clock: ManualClock) -> None:
    peer.hint = (10**15, 0)
    phone = make_phone()
    assert awake(phone).not_before == phone.now() + 31 * 86_400


def test_turned_away_it_comes_back_after_the_time_told(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    peer.hint = (86_400, 86_400)
    peer.turns_away = True
    phone = after_the_week(make_phone(), clock)
    did = awake(phone)
    assert (did.turned_away, did.said) == (1, ["weekly-trips: turned away."])
    assert 60 <= did.not_before - phone.now() <= 90
    assert "The server has no place in weekly-trips just now." in [str(x.what) for x in phone.log]
    peer.turns_away = False
    clock.advance(timedelta(seconds=91))
    assert len(awake(phone).sent) == 1


def test_a_busy_server_gets_its_quiet(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    machine = [1000.0]
    faults = ["busy"]
    api = DirectApi(peer, lambda number, name: faults.pop() if faults else "")
    phone = after_the_week(make_phone(api=api, machine=lambda: machine[0]), clock)
    assert awake(phone).stopped == "The server is busy."
    machine[0] += 29.9
    assert awake(phone).stopped == "The server asked for quiet."
    assert len(peer.calls) == 1
    machine[0] += 20
    assert len(awake(phone).sent) == 1


def test_it_is_active_once(make_phone: MakePhone, peer: Peer, clock: ManualClock) -> None:
    phone = make_phone(agrees=False)
    awake(phone)
    assert peer.calls == []
    phone.set_consent("trips", True)
    awake(phone)
    awake(phone)
    assert peer.active == 1


def test_a_slow_server_ends_the_wake_up(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("devices_sim.device.wake_up.MAX_SECONDS", 0.05)

    class Slow(DirectApi):
        async def check_in(self, message: Any, meter: Any) -> Any:
            await asyncio.Event().wait()

    phone = after_the_week(make_phone(api=Slow(peer)), clock)
    did = awake(phone)
    assert did.stopped == "The minute of this wake-up is over."


def test_the_minute_ends_between_windows(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    """Each look at the machine's clock takes five seconds: nothing half done leaves or stays."""
    peer.revisions.clear()
    hourly = client_task(catalog, window_unit=Unit.HOUR, epsilon="0.01")
    peer.add("hourly", hourly, approved_at=BEFORE, grace_hours=240)
    seconds = iter(range(0, 100_000, 5))
    phone = make_phone(machine=lambda: float(next(seconds)))
    phone.record("trips", trip())
    clock.advance(timedelta(hours=16))
    did = awake(phone)
    assert did.stopped == "The minute of this wake-up is over."
    assert "assignments" in peer.calls
    assert (peer.arrived, phone.load().pending, phone.load().budget.weeks) == ([], [], {})
    phone.machine = lambda: 0.0
    assert [len(sent.windows) for sent in awake(phone).sent] == [16]


def test_the_minute_ends_while_a_flood_of_offers_is_considered(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    peer.revisions.clear()
    for number in range(100):
        task = client_task(catalog, epsilon=f"0.{number + 1:02d}" if number < 99 else "1")
        peer.add(f"task-{number}", task, approved_at=BEFORE)
    seconds = iter(range(100_000))
    phone = after_the_week(make_phone(machine=lambda: float(next(seconds))), clock)
    assert awake(phone).stopped == "The minute of this wake-up is over."
    assert peer.calls == ["active", "check_in"]


def test_it_is_awake_once_at_a_time(make_phone: MakePhone, peer: Peer, clock: ManualClock) -> None:
    async def story(api: Any) -> None:
        phone = after_the_week(make_phone(api=api), clock)
        first, second = await asyncio.gather(phone.wake_up(), phone.wake_up())
        assert len(first.sent) == 1
        assert second.stopped == "The phone is awake already."

    over_http(peer, story)
