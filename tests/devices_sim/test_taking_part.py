"""Taking part: what is asked for in which order, and how long a server's word is kept."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random
from typing import Any

import msgspec
import pytest

from aggregation.clock import ManualClock
from aggregation.protocol.client_task import Eligibility, Schedule
from aggregation.protocol.messages import MAX_WANTED, AssignmentRequest
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit
from devices_sim.device.phone import Phone
from devices_sim.device.wake_up import WakeUp
from tests.aggregation.ondevice.examples import WEEK, client_task, trip
from tests.devices_sim.conftest import MakePhone
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi

BEFORE = WEEK.start - timedelta(days=1)
ANYTIME = Eligibility(min_separation_windows=1, require_events=False)


def awake(phone: Phone) -> WakeUp:
    return asyncio.run(phone.wake_up())


class Listening(DirectApi):
    """Remembers which tasks a phone asked for."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        self.asked: list[list[str]] = []

    async def assignments(self, message: AssignmentRequest, meter: Any) -> Any:
        self.asked.append([wanted.task for wanted in message.tasks])
        return await super().assignments(message, meter)


def test_the_oldest_windows_are_asked_for_first(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    """Theirs is the least time left."""
    peer.revisions.clear()
    daily = client_task(catalog, window_unit=Unit.DAY, epsilon="0.1")
    late = WEEK.start + timedelta(days=4)
    peer.add("newer", client_task(catalog, window_unit=Unit.DAY), approved_at=late)
    peer.add("older", daily, approved_at=BEFORE)
    api = Listening(peer)
    phone = make_phone(api=api)
    phone.record("trips", *[trip(after=timedelta(days=day, hours=1)) for day in range(6)])
    clock.set(WEEK.start + timedelta(days=6))
    awake(phone)
    assert api.asked == [["older", "newer"]]


def test_no_more_tasks_are_asked_for_than_one_call_takes(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    peer.revisions.clear()
    for number in range(MAX_WANTED + 3):
        task = client_task(catalog, epsilon=f"0.{number + 1:02d}")
        peer.add(f"task-{number}", task, approved_at=BEFORE)
    api = Listening(peer)
    phone = make_phone(api=api)
    phone.record("trips", trip())
    clock.set(WEEK.end)
    assert len(awake(phone).sent) == MAX_WANTED
    assert [len(asked) for asked in api.asked] == [MAX_WANTED]


def test_a_task_that_is_offered_twice_is_asked_for_twice(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    """It was resumed: each of its two approvals has windows of its own."""
    peer.revisions.clear()
    for approved_at in (BEFORE, WEEK.end):
        peer.add("weekly-trips", client_task(catalog), approved_at=approved_at, grace_hours=400)
    api = Listening(peer)
    phone = make_phone(api=api)
    phone.record("trips", trip(), trip(after=timedelta(days=8)))
    clock.set(WEEK.next().end)
    awake(phone)
    assert api.asked == [["weekly-trips", "weekly-trips"]]


def test_phones_told_the_same_come_back_at_their_own_moments(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    peer.hint = (3600, 7200)
    moments = {awake(make_phone(rng=Random(seed))).not_before for seed in range(5)}
    start = clock.now().timestamp()
    assert len(moments) == 5
    assert all(start + 3600 <= moment <= start + 7200 for moment in moments)


@pytest.mark.parametrize("hint", [(10, 5), (5, 10**15), (10**15, 10**15)])
def test_an_odd_hint_is_made_sense_of(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, hint: tuple[int, int]
) -> None:
    peer.hint = hint
    start = clock.now().timestamp()
    shortest = min(hint[0], 31 * 86_400)
    assert start + shortest <= awake(make_phone()).not_before <= start + 31 * 86_400


def test_being_turned_away_for_ever_ends(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    """Its next check-in comes at the latest when the server's hint is over."""

    class ForEver(DirectApi):
        async def assignments(self, message: AssignmentRequest, meter: Any) -> Any:
            given = await super().assignments(message, meter)
            away = [msgspec.structs.replace(a, retry_seconds=2**62) for a in given.assignments]
            return msgspec.structs.replace(given, assignments=tuple(away))

    peer.hint = (86_400, 86_400)
    peer.turns_away = True
    phone = make_phone(api=ForEver(peer))
    phone.record("trips", trip())
    clock.set(WEEK.end)
    assert awake(phone).not_before == phone.now() + 86_400


def test_a_known_task_without_events_of_its_own_is_not_asked_for(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    """The phone knows what the task reads, so events of other streams are no reason to ask."""
    peer.revisions.clear()
    peer.add("daily", client_task(catalog, window_unit=Unit.DAY), approved_at=BEFORE)
    api = Listening(peer)
    phone = make_phone(api=api)
    phone.set_consent("assistant", True)
    phone.record("trips", trip())
    clock.advance(timedelta(days=1))
    awake(phone)
    assert len(api.asked) == 1
    asked = trip(after=timedelta(days=1, hours=1))._replace(
        values=("reply", "accepted", None, 80.0)
    )
    assert phone.record("assistant", asked) == 1
    clock.advance(timedelta(days=1))
    awake(phone)
    assert len(api.asked) == 1


def test_only_windows_that_are_new_are_paid_for(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    """One goes out again, others do for the first time, and more do not fit into the update."""
    peer.revisions.clear()
    often = Schedule(max_runs_per_day=24, conditions=())
    hourly = client_task(
        catalog, window_unit=Unit.HOUR, epsilon="0.02", schedule=often, eligibility=ANYTIME
    )
    peer.add("hourly", hourly, approved_at=BEFORE, grace_hours=240)
    phone = make_phone()
    clock.advance(timedelta(hours=1))
    awake(phone)
    peer.kill(next(iter(peer.sessions.values())))
    clock.advance(timedelta(hours=20))
    (sent,) = awake(phone).sent
    assert len(sent.windows) == 16
    (week,) = phone.load().budget.weeks.values()
    assert week == {"trips": 16 * 2}
