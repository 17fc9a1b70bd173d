"""One wake-up's turns: whatever interrupts it, what comes next is neither lost nor too soon."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from aggregation.clock import ManualClock
from aggregation.protocol.streams import Catalog
from devices_sim.device import wake_up
from devices_sim.device.api_client import Declined
from devices_sim.device.phone import Phone
from devices_sim.device.wake_up import WakeUp
from tests.aggregation.ondevice.examples import WEEK, client_task, trip
from tests.devices_sim.conftest import MakePhone
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi

BEFORE = WEEK.start - timedelta(days=1)
WEEK_SECONDS = 7 * 86_400


def awake(phone: Phone) -> WakeUp:
    return asyncio.run(phone.wake_up())


def after_the_week(phone: Phone, clock: ManualClock) -> Phone:
    phone.record("trips", trip())
    clock.set(WEEK.end + timedelta(hours=1))
    return phone


def once(peer: Peer, name: str, fault: str) -> DirectApi:
    """The first call of this name goes wrong."""
    left = [name]
    return DirectApi(peer, lambda _, called: fault if called in left and not left.clear() else "")


def doing(peer: Peer, name: str, act: Callable[[], None]) -> DirectApi:
    """Something happens whenever this call is under way."""

    def fault(_: int, called: str) -> str:
        if called == name:
            act()
        return ""

    return DirectApi(peer, fault)


def test_the_rest_goes_on_though_the_first_word_is_lost(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(api=once(peer, "active", "request")), clock)
    assert len(awake(phone).sent) == 1
    assert not phone.load().announced
    awake(phone)
    assert peer.active == 1


@pytest.mark.parametrize("busy_at", ["check_in", "assignments", "upload"])
def test_quiet_lasts_longer_than_was_asked_for_and_differs(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, busy_at: str
) -> None:
    api = once(peer, busy_at, "busy")
    phone = after_the_week(make_phone(api=api, machine=lambda: 1000.0), clock)
    assert awake(phone).stopped == wake_up.BUSY
    assert 1030 < phone.quiet_until <= 1045


def test_a_server_that_is_busy_with_a_status_is_asked_nothing_more(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(api=once(peer, "status", "busy")), clock)
    awake(phone)
    peer.calls.clear()
    assert awake(phone).stopped == wake_up.BUSY
    assert peer.calls == ["status"]


@pytest.mark.parametrize("lost", ["request", "busy"])
def test_what_was_cut_short_is_taken_up_soon(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, lost: str
) -> None:
    """And not by all phones at the same moment."""
    peer.hint = (WEEK_SECONDS, WEEK_SECONDS)
    phone = after_the_week(make_phone(api=once(peer, "assignments", lost)), clock)
    assert 900 < awake(phone).not_before - phone.now() <= 1350


def test_what_the_minute_cut_short_is_taken_up_soon(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    peer.hint = (WEEK_SECONDS, WEEK_SECONDS)
    machine = [0.0]
    api = doing(peer, "assignments", lambda: machine.append(61.0))
    phone = after_the_week(make_phone(api=api, machine=lambda: machine[-1]), clock)
    did = awake(phone)
    assert did.stopped == wake_up.OUT_OF_TIME
    assert 900 < did.not_before - phone.now() <= 1350


def test_the_minute_ends_between_updates_that_are_asked_after(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    peer.add("another", client_task(catalog, epsilon="0.5"), approved_at=BEFORE)
    machine = [0.0]
    api = doing(peer, "status", lambda: machine.append(61.0))
    phone = after_the_week(make_phone(api=api, machine=lambda: machine[-1]), clock)
    assert len(awake(phone).sent) == 2
    peer.calls.clear()
    assert awake(phone).stopped == wake_up.OUT_OF_TIME
    assert peer.calls == ["status"]


def test_sealed_bytes_go_once_the_queue_has_them(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(api=once(peer, "upload", "request")), clock)
    awake(phone)
    assert phone.load().pending[0].sealed
    awake(phone)
    assert phone.load().pending[0].sealed == b""


def test_opting_out_while_a_status_is_asked_for_is_the_last_word(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    """Its session ended without it, but nothing of it goes out again."""
    phones: list[Phone] = []
    api = doing(peer, "status", lambda: phones[0].set_consent("trips", False))
    phones.append(after_the_week(make_phone(api=api), clock))
    awake(phones[0])
    for session in peer.sessions.values():
        peer.kill(session)
    did = awake(phones[0])
    assert (did.again, did.counted) == (0, 0)
    assert phones[0].load().tasks["weekly-trips"].again == {}


def test_tasks_that_ended_long_ago_are_forgotten(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(), clock)
    awake(phone)
    peer.flush_all()
    awake(phone)
    state: Any = phone.load()
    assert (len(state.tasks), len(state.client_tasks)) == (1, 1)
    state.budget.floor = "2026-12-28"
    phone.save(state)
    peer.revisions.clear()
    awake(phone)
    assert (phone.load().tasks, phone.load().client_tasks) == ({}, {})


def test_a_server_that_declines_is_quoted(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    class Declining(DirectApi):
        async def check_in(self, message: Any, meter: Any) -> Any:
            raise Declined("There is no population of this name.")

    phone = after_the_week(make_phone(api=Declining(peer)), clock)
    assert awake(phone).stopped == "The server declined. There is no population of this name."


def test_events_outlive_their_time_on_no_phone_that_is_used(
    make_phone: MakePhone, clock: ManualClock
) -> None:
    """Though its system never wakes it up."""
    phone = make_phone()
    phone.record("trips", trip())
    clock.advance(timedelta(days=31))
    phone.record("trips", trip(after=timedelta(days=31)))
    assert len(phone.load().events["trips"]) == 1


def test_a_state_that_is_damaged_meanwhile_is_begun_anew(make_phone: MakePhone) -> None:
    phone = make_phone()
    phone.storage.save(b"damaged")
    assert (phone.load().consents, phone.load().log[-1].kind) == ({}, "damaged")


def test_the_log_keeps_its_newest_lines(make_phone: MakePhone) -> None:
    assert [entry.kind for entry in make_phone(log_entries=1).load().log] == ["opted_in"]
