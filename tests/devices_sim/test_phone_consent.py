"""An owner opts out and in again, also while the phone is awake."""

from __future__ import annotations

from datetime import timedelta

import pytest

from aggregation.clock import ManualClock
from devices_sim.device.phone import Phone
from tests.aggregation.ondevice.examples import WEEK, trip
from tests.devices_sim.conftest import MakePhone
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi
from tests.devices_sim.waking import SOON, after_the_week, awake


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
