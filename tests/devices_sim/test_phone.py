"""One phone against an honest server over real HTTP: the whole story, and each of its turns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from aggregation.clock import ManualClock
from aggregation.errors import Problem
from aggregation.protocol.client_task import Eligibility, Schedule
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit
from devices_sim.device.conditions import Conditions
from devices_sim.device.library import Library
from devices_sim.device.phone import Phone
from devices_sim.device.storage import FileStorage, MemoryStorage
from devices_sim.device.wake_up import WakeUp
from tests.aggregation.ondevice.examples import WEEK, client_task, trip
from tests.devices_sim.conftest import MakePhone
from tests.devices_sim.peer import DirectApi, Fault, Peer, served

BEFORE = WEEK.start - timedelta(days=1)
SOON = timedelta(hours=1)


def awake(phone: Phone, conditions: Conditions | None = None) -> WakeUp:
    return asyncio.run(phone.wake_up(conditions or Conditions()))


def over_http(
    peer: Peer, story: Callable[[Any], Awaitable[None]], fault: Fault = lambda number, name: ""
) -> None:
    async def run() -> None:
        async with served(peer, fault) as api:
            await story(api)

    asyncio.run(run())


def after_the_week(phone: Phone, clock: ManualClock, *more: Any) -> Phone:
    phone.record("trips", trip(), *more)
    clock.set(WEEK.end + SOON)
    return phone


def test_it_works(make_phone: MakePhone, peer: Peer, clock: ManualClock) -> None:
    async def story(api: Any) -> None:
        phone = after_the_week(make_phone(api=api), clock, trip(region="1003"))
        did = await phone.wake_up()
        assert not did.stopped, did
        assert [(sent.task, sent.windows) for sent in did.sent] == [("weekly-trips", (WEEK.id,))]
        peer.flush_all()
        did = await phone.wake_up()
        assert (did.counted, did.on_their_way, did.sent) == (1, 0, [])
        assert [line.what for line in phone.log] == [
            "Started for the first time.",
            "You agreed to trips.",
            "Told the server that this feature is in use, once, with no name.",
            "Asked to take part in weekly-trips.",
            "Sent a sealed update for weekly-trips, 2026-11-09.",
            "weekly-trips, 2026-11-09: counted.",
            "Asked which tasks are open for DE.",
        ]
        sizes = {line.what.split()[0]: line.bytes for line in phone.log if line.bytes}
        assert sizes.keys() == {"Told", "Asked", "Sent"}
        assert did.checked_in

    over_http(peer, story)
    assert peer.cells("weekly-trips", WEEK.id) == {12: 1, 66: 1}
    assert peer.calls == [
        *("active", "check_in", "assignments", "client_task", "upload"),
        *("status", "check_in"),
    ]


def test_a_query_takes_less_than_15_kb_both_ways(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    async def story(api: Any) -> None:
        phone = after_the_week(make_phone(api=api), clock)
        first = (await phone.wake_up()).meter
        peer.flush_all()
        last = (await phone.wake_up()).meter
        assert 2000 < first.up < 6000
        assert 2000 < first.down < 6000
        assert first.up + first.down + last.up + last.down < 15_000

    over_http(peer, story)


@pytest.mark.parametrize("lost", ["request", "answer", "busy"])
@pytest.mark.parametrize(
    "name", ["active", "check_in", "assignments", "client_task", "upload", "status"]
)
def test_whatever_gets_lost_counts_once(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, lost: str, name: str
) -> None:
    once = {name}

    def fault(number: int, called: str) -> str:
        if called in once:
            once.remove(called)
            return lost
        return ""

    machine = [0.0]

    async def story(api: Any) -> None:
        phone = after_the_week(make_phone(api=api, machine=lambda: machine[0]), clock)
        for _ in range(3):
            await phone.wake_up()
            machine[0] += 60
        peer.flush_all()
        for _ in range(2):
            await phone.wake_up()
            machine[0] += 60
        assert phone.load().pending == []

    over_http(peer, story, fault)
    assert not once
    assert peer.cells("weekly-trips", WEEK.id) == {12: 1}
    assert len({update for _, update, _ in peer.arrived}) == 1
    assert len({sealed for _, _, sealed in peer.arrived}) == 1


def test_a_late_phone_sends_its_windows_in_one_update(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    peer.revisions[0].grace = timedelta(days=21)
    phone = make_phone()
    phone.record("trips", trip(), trip(after=timedelta(days=8)))
    clock.set(WEEK.next().end + SOON)
    did = awake(phone)
    assert [sent.windows for sent in did.sent] == [("2026-11-09", "2026-11-16")]
    peer.flush_all()
    assert awake(phone).counted == 2
    assert peer.cells("weekly-trips", "2026-11-16") == {12: 1}


def test_updates_with_as_many_windows_have_one_length(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    sealed = []
    never = Eligibility(min_separation_windows=0, require_events=False)
    peer.revisions.clear()
    peer.add("weekly-trips", client_task(catalog, eligibility=never), approved_at=BEFORE)
    phones = [make_phone() for _ in range(3)]
    phones[1].record("trips", trip())
    phones[2].record("trips", *[trip(region=str(1001 + n % 12)) for n in range(500)])
    clock.set(WEEK.end + SOON)
    for phone in phones:
        sealed += [sent.bytes for sent in awake(phone).sent]
    assert len(sealed) == 3
    assert len(set(sealed)) == 1


def test_a_phone_downloads_a_task_once(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    """Each for itself, though phones of a process share what they read from it."""
    library = Library(catalog)
    phones = [make_phone(library=library) for _ in range(2)]
    for week in range(3):
        for phone in phones:
            phone.record("trips", trip(after=timedelta(days=7 * week + 1)))
        clock.set(WEEK.end + timedelta(days=7 * week) + SOON)
        assert [len(awake(phone).sent) for phone in phones] == [1, 1]
    assert peer.calls.count("client_task") == 2
    restarted = make_phone(phones[0].storage, library=Library(catalog))
    restarted.record("trips", trip(after=timedelta(days=22)))
    clock.advance(timedelta(days=7))
    assert len(awake(restarted).sent) == 1
    assert peer.calls.count("client_task") == 3


def test_a_task_without_events_of_its_own_streams_is_not_run(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    """Which streams it reads is known only once it is downloaded."""
    peer.revisions.clear()
    sql = "SELECT feature, privacy_time_unit, COUNT(*) FROM assistant GROUP BY 1, 2"
    reads = {"assistant": ("feature",)}
    task = client_task(catalog, reads=reads, keys=("feature",), metrics=("uses",), sql=sql)
    peer.add("uses", task, approved_at=BEFORE)
    phone = make_phone()
    phone.set_consent("assistant", True)
    did = awake(after_the_week(phone, clock))
    assert (did.sent, did.refused) == ([], 0)
    assert did.said == ["uses: No event lies in the windows that are waiting."]
    assert "assignments" in peer.calls
    peer.calls.clear()
    awake(phone)
    assert peer.calls == ["check_in"]  # by now it is known


def test_a_dead_session_is_tried_elsewhere(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(), clock)
    awake(phone)
    (session,) = peer.sessions.values()
    peer.kill(session)
    did = awake(phone)
    assert did.again == 1
    assert [sent.windows for sent in did.sent] == [(WEEK.id,)]
    peer.flush_all()
    assert awake(phone).counted == 1
    assert len({update for _, update, _ in peer.arrived}) == 2
    assert phone.load().budget.weeks == {WEEK.id: {"trips": 200}}  # paid once


def test_a_session_that_is_over_before_the_upload_is_asked(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    class OverMeanwhile(DirectApi):
        async def upload(self, **parts: Any) -> Any:
            peer.kill(peer.sessions[parts["session"]])
            return await super().upload(**parts)

    phone = after_the_week(make_phone(api=OverMeanwhile(peer)), clock)
    did = awake(phone)
    assert (did.again, did.on_their_way) == (1, 0)
    assert [c for c in peer.calls if c in ("upload", "status")] == ["upload", "status"]


def test_only_windows_that_did_not_count_go_again(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    peer.revisions[0].grace = timedelta(days=21)
    phone = make_phone()
    phone.record("trips", trip(), trip(after=timedelta(days=8)))
    clock.set(WEEK.next().end + SOON)
    awake(phone)
    (session,) = peer.sessions.values()
    peer.flush(session, only=lambda window: window == "2026-11-16")
    did = awake(phone)
    assert (did.counted, did.again) == (1, 1)
    assert [sent.windows for sent in did.sent] == [("2026-11-09",)]


def test_a_window_that_closed_is_given_up(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(), clock)
    awake(phone)
    clock.advance(timedelta(days=8))
    peer.flush_all()  # its grace is over: dropped
    did = awake(phone)
    assert (did.counted, did.again, did.released, did.sent) == (0, 1, 1, [])
    assert "weekly-trips, 2026-11-09: given up." in [line.what for line in phone.log]
    assert phone.load().tasks["weekly-trips"].again == {}
    assert peer.counted == {}


def test_an_unknown_session_is_given_up(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(), clock)
    awake(phone)
    (session,) = peer.sessions.values()
    peer.forget(session)
    did = awake(phone)
    assert (did.given_up, did.sent, did.on_their_way) == (1, [], 0)


def test_a_session_that_never_ends_is_given_up_with_the_events(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(), clock)
    awake(phone)
    clock.set(WEEK.end + timedelta(days=30))
    assert awake(phone).on_their_way == 1
    clock.advance(timedelta(seconds=1))
    awake(phone)
    assert phone.load().pending == []
    assert phone.load().events == {}


def test_a_window_stays_with_its_revision(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    phone = after_the_week(make_phone(), clock)
    awake(phone)
    (session,) = peer.sessions.values()
    peer.kill(session)
    peer.revisions.clear()
    peer.add("weekly-trips", client_task(catalog, epsilon="1"), approved_at=BEFORE)
    did = awake(phone)
    assert (did.again, did.sent) == (1, [])


def test_two_revisions_do_not_share_a_window(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    peer.add("weekly-trips", client_task(catalog, epsilon="1"), approved_at=BEFORE)
    phone = after_the_week(make_phone(), clock)
    assert len(awake(phone).sent) == 1


def test_a_client_task_under_another_name_gets_nothing_more(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(), clock)
    awake(phone)
    peer.flush_all()
    awake(phone)
    peer.revisions[0].task = "weekly-trips-again"
    assert awake(phone).sent == []


def test_a_client_task_under_two_names_at_once_is_run_once(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    peer.revisions.append(replace(peer.revisions[0], task="weekly-trips-again"))
    phone = after_the_week(make_phone(), clock)
    assert len(awake(phone).sent) == 1
    assert len(peer.arrived) == 1


def test_a_task_offered_twice_is_run_once(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    peer.revisions.append(peer.revisions[0])
    phone = after_the_week(make_phone(), clock)
    assert len(awake(phone).sent) == 1


@pytest.mark.parametrize("already", [False, True])
def test_a_resumed_task_is_open_under_two_approvals(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog, already: bool
) -> None:
    """The same client task, twice; each assignment has its own windows."""
    first = peer.revisions[0]
    first.grace = timedelta(days=21)
    resumed = peer.add("weekly-trips", client_task(catalog), approved_at=WEEK.end)
    phone = make_phone()
    phone.record("trips", trip(), trip(after=timedelta(days=15)))
    first.offer = first.assigned = {"windows": ("2026-11-09",)}
    if already:
        clock.set(WEEK.end + SOON)
        resumed.offer = {"windows": ()}
        assert len(awake(phone).sent) == 1
    clock.set(WEEK.next().next().end + SOON)
    resumed.offer = {"windows": ("2026-11-23",)}
    sent = [each.windows for each in awake(phone).sent]
    assert sent == ([("2026-11-23",)] if already else [("2026-11-09",), ("2026-11-23",)])


def test_a_task_described_in_two_ways_is_refused(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    other = peer.add("weekly-trips", client_task(catalog), approved_at=BEFORE)
    other.offer["schedule"] = Schedule(max_runs_per_day=4, conditions=())
    phone = after_the_week(make_phone(), clock)
    did = awake(phone)
    assert (did.refused, did.sent) == (1, [])
    assert did.said == ["weekly-trips: The server described it in two ways."]


def test_all_tasks_together_keep_the_budget(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    for number in range(3):
        task = client_task(catalog, epsilon=f"1.0{number}")
        peer.add(f"task-{number}", task, approved_at=BEFORE)
    phone = after_the_week(make_phone(), clock)
    did = awake(phone)
    assert len(did.sent) == 2
    assert did.refused == 2
    assert phone.load().budget.weeks[WEEK.id]["trips"] <= 400
    assert all("is left." in line.why for line in phone.log if line.what.startswith("Refused"))


# When it wakes up, and when it does not


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


# The minute


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


# Opting out, losing the disk, faults


def test_opting_out_purges_events_and_updates_on_their_way(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    api = DirectApi(peer, lambda number, name: "request" if name == "upload" else "")
    phone = after_the_week(make_phone(api=api), clock)
    awake(phone)
    assert phone.load().pending[0].sealed
    phone.set_consent("trips", False)
    state = phone.load()
    assert (state.events, state.pending, state.consents) == ({}, [], {})
    assert phone.record("trips", trip()) == 0
    assert awake(phone).stopped == "You have not agreed to any stream."
    assert peer.arrived == []


def test_opting_in_again_does_not_count_twice(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(), clock)
    awake(phone)
    phone.set_consent("trips", False)
    clock.set(WEEK.start)  # the harshest case: by its clock it agreed before the week
    phone.set_consent("trips", True)
    phone.record("trips", trip())
    clock.set(WEEK.end + SOON)
    assert awake(phone).sent == []


@pytest.mark.parametrize("during", ["check_in", "assignments", "client_task"])
def test_opting_out_reaches_a_wake_up_under_way(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, during: str
) -> None:
    phones: list[Phone] = []

    def fault(number: int, name: str) -> str:
        if name == during:
            phones[0].set_consent("trips", False)
        return ""

    phones.append(after_the_week(make_phone(api=DirectApi(peer, fault)), clock))
    awake(phones[0])
    assert peer.arrived == []
    state = phones[0].load()
    assert (state.events, state.pending, state.consents) == ({}, [], {})


def test_opting_out_while_the_upload_is_under_way_forgets_it(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phones: list[Phone] = []

    def fault(number: int, name: str) -> str:
        if name == "upload":
            phones[0].set_consent("trips", False)
        return ""

    phones.append(after_the_week(make_phone(api=DirectApi(peer, fault)), clock))
    awake(phones[0])
    state = phones[0].load()
    assert (state.events, state.pending) == ({}, [])
    assert state.tasks["weekly-trips"].high == "2026-11-16"


def test_events_reported_while_awake_are_kept(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phones: list[Phone] = []

    def fault(number: int, name: str) -> str:
        if name == "upload":
            phones[0].record("trips", trip(after=timedelta(days=7, minutes=5)))
        return ""

    phones.append(after_the_week(make_phone(api=DirectApi(peer, fault)), clock))
    awake(phones[0])
    assert len(phones[0].load().events["trips"]) == 2


class FullDisk(MemoryStorage):
    full = False

    def save(self, blob: bytes) -> None:
        if self.full:
            raise OSError("No space left on device")
        super().save(blob)


def test_what_cannot_be_saved_is_not_sent(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    disk = FullDisk()
    phone = make_phone(disk)
    phone.set_consent("trips", True)
    after_the_week(phone, clock)
    disk.full = True
    did = awake(phone)
    assert did.stopped == "Nothing can be stored on this phone, so nothing is sent."
    assert (did.sent, peer.arrived) == ([], [])
    disk.full = False
    assert len(awake(phone).sent) == 1


def test_a_fault_in_one_task_does_not_stop_the_others(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    peer.add("other-trips", client_task(catalog, epsilon="1"), approved_at=BEFORE)

    class Faulty(DirectApi):
        async def client_task(self, sha256: str, meter: Any) -> bytes:
            if sha256 == peer.revisions[0].sha256:
                raise ZeroDivisionError("region 1001 on Monday morning")
            return await super().client_task(sha256, meter)

    phone = after_the_week(make_phone(api=Faulty(peer)), clock)
    did = awake(phone)
    assert [sent.task for sent in did.sent] == ["other-trips"]
    assert did.said == ["weekly-trips: could not be run."]
    assert not any("Monday" in str(line) for line in phone.log)


def test_damaged_storage_is_a_new_install(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(), clock)
    phone.storage.save(b"\x93\x01damaged")
    again = make_phone(phone.storage)
    assert again.load().consents == {}
    assert again.log[0].what == "What was stored could not be read; started anew."


def test_a_reinstalled_phone_leaves_windows_of_the_time_before_alone(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    awake(after_the_week(make_phone(), clock))
    peer.flush_all()
    clock.set(WEEK.end)
    again = make_phone()
    again.record("trips", trip(after=timedelta(days=7, hours=1)), trip())
    clock.advance(SOON)
    assert awake(again).sent == []
    clock.set(WEEK.next().end)
    assert [sent.windows for sent in awake(again).sent] == [("2026-11-16",)]


def test_a_phone_with_a_file_goes_on_after_a_restart(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, tmp_path: Path
) -> None:
    first = make_phone(FileStorage(tmp_path / "phone"))
    first.set_consent("trips", True)
    awake(after_the_week(first, clock))
    peer.flush_all()
    again = make_phone(FileStorage(tmp_path / "phone"))
    assert awake(again).counted == 1
    assert [str(line) for line in again.log][:2] == [
        "2026-11-09 00:00 Started for the first time.",
        "2026-11-09 00:00 You agreed to trips.",
    ]


def test_a_clock_set_back_reopens_nothing(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    own = ManualClock(WEEK.start)
    phone = make_phone(clock=own)
    phone.record("trips", trip())
    clock.set(WEEK.end + SOON)
    assert awake(phone).sent == []  # by its own clock the week has just begun
    own.set(WEEK.end + SOON)
    assert len(awake(phone).sent) == 1
    peer.flush_all()
    for moment in (WEEK.start, WEEK.end - SOON, WEEK.end, WEEK.end + timedelta(days=6)):
        own.set(moment)
        assert awake(phone).sent == []
    assert peer.cells("weekly-trips", WEEK.id) == {12: 1}


def test_a_clock_set_forward_sends_nothing_early(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    own = ManualClock(WEEK.start)
    phone = make_phone(clock=own)
    phone.record("trips", trip())
    own.set(WEEK.end + timedelta(days=20))
    clock.advance(timedelta(days=2))
    assert awake(phone).sent == []  # the server lists only what has ended by its clock
    own.set(WEEK.end + SOON)
    clock.set(WEEK.end + SOON)
    assert len(awake(phone).sent) == 1


def test_it_knows_only_its_streams(make_phone: MakePhone) -> None:
    phone = make_phone()
    with pytest.raises(Problem, match="no stream 'steps'"):
        phone.set_consent("steps", True)
    with pytest.raises(Problem, match="no stream 'steps'"):
        phone.record("steps", trip())


def test_it_tells_nothing_of_itself(make_phone: MakePhone, clock: ManualClock) -> None:
    phone = after_the_week(make_phone(), clock)
    awake(phone)
    state = phone.load()
    for shown in (repr(phone), repr(state), repr(state.pending[0]), repr(phone.storage)):
        assert "withheld" in shown
        assert "1001" not in shown
