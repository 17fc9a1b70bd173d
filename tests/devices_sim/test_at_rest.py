"""Phones by the thousand: small at rest, and sharing what holds nothing of any of them."""

from __future__ import annotations

import asyncio
import tracemalloc
from datetime import timedelta
from typing import Any

from aggregation.clock import ManualClock
from devices_sim.device.phone import Phone
from tests.aggregation.ondevice.examples import WEEK, trip
from tests.devices_sim.conftest import MakePhone
from tests.devices_sim.peer import Peer


def lived(make_phone: MakePhone, clock: ManualClock, peer: Peer, **parts: object) -> Phone:
    """Three weeks old, with three counted updates and ten events."""
    clock.set(WEEK.start)
    phone = make_phone(**parts)
    week = WEEK
    for _ in range(3):
        after = [timedelta(days=1, hours=n) + (week.start - WEEK.start) for n in range(10)]
        phone.record("trips", *[trip(after=each) for each in after])
        clock.set(week.end + timedelta(hours=1))
        asyncio.run(phone.wake_up())
        peer.flush_all()
        asyncio.run(phone.wake_up())
        week = week.next()
    assert len(phone.load().events["trips"]) == 30
    return phone


def test_a_phone_at_rest_is_small(make_phone: MakePhone, clock: ManualClock, peer: Peer) -> None:
    """With ten events and an update in its session's queue."""
    first = make_phone()
    shared: dict[str, Any] = {"log_entries": 8}
    shared |= {name: getattr(first, name) for name in ("library", "api", "rng", "pins")}
    first.record("trips", trip())
    clock.set(WEEK.end + timedelta(hours=1))
    asyncio.run(all_awake([first]))  # fills what phones share
    clock.set(WEEK.start)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    phones = [make_phone(**shared) for _ in range(200)]
    for phone in phones:
        phone.record("trips", *[trip()] * 10)
    clock.set(WEEK.end + timedelta(hours=1))
    asyncio.run(all_awake(phones))
    peer.arrived.clear()
    for session in peer.sessions.values():
        session.queue.clear()
    taken = (tracemalloc.get_traced_memory()[0] - before) / len(phones)
    tracemalloc.stop()
    assert all(phone.load().pending for phone in phones)
    assert taken < 2000, taken


async def all_awake(phones: list[Phone]) -> None:
    for phone in phones:
        await phone.wake_up()


def test_a_phone_does_not_grow_with_age(
    make_phone: MakePhone, clock: ManualClock, peer: Peer
) -> None:
    phone = lived(make_phone, clock, peer, log_entries=8)
    assert phone.load().pending == []
    state = phone.load()
    state.events.clear()
    phone.save(state)
    assert len(phone.storage.load() or b"") < 1000
