"""A fleet in steps: all that is due is done, sparingly, and noted for whoever checks it."""

from __future__ import annotations

import asyncio
import math
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from aggregation.clock import ManualClock
from devices_sim.fleet.driver import Parts
from devices_sim.simulation.ledger import Sendings, Word, verdict
from devices_sim.simulation.stepped import SteppedFleet, is_good
from tests.aggregation.ondevice.examples import client_task
from tests.devices_sim.fleet.small_world import MONDAY, SECONDS, WEEK, real_catalog, world
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi

START, HOUR, PHONES = MONDAY - 3600, 3600, 60


def lived(
    *, hours_of_sessions: float = math.inf, too_late: float = 0.0, **scenario: Any
) -> tuple[SteppedFleet, Peer]:
    """Two weeks, hour by hour, with a peer that counts everything at the end, or every so often.
    So large a share of uploads comes when its session has just ended."""
    lot = Random(2)

    def end_sessions(number: int, call: str) -> str:
        if call == "upload" and lot.random() < too_late:
            peer.flush_all()
        return ""

    clock = ManualClock(datetime.fromtimestamp(START, UTC))
    peer = Peer(clock)
    peer.hint = (6 * HOUR, 12 * HOUR)
    peer.add("trips", client_task(real_catalog()), approved_at=WEEK.start - timedelta(days=1))
    parts = Parts(real_catalog(), peer.pins, DirectApi(peer, end_sessions), clock, Random(1))
    people = world("demo", **{"phones": PHONES, "most_wake_ups": 0, "unusual": {}, **scenario})
    fleet = SteppedFleet(people, parts, start=START, numbers=range(PHONES), tasks=1)

    async def live() -> None:
        for moment in range(int(START), int(MONDAY + 2 * SECONDS), HOUR):
            clock.set(datetime.fromtimestamp(moment, UTC))
            await fleet.catch_up()
            assert fleet.next_due > moment
            if (moment - START) % (hours_of_sessions * HOUR) == 0:
                peer.flush_all()

    asyncio.run(live())
    clock.set(WEEK.end + timedelta(days=1))
    peer.flush_all()
    return fleet, peer


def sent(fleet: SteppedFleet) -> Sendings:
    return fleet.ledger.of(("trips", WEEK.id))


def counted(peer: Peer) -> bytes:
    ids = {i for s in peer.sessions.values() for i in s.receipts.get(WEEK.id, ())}
    return b"".join(bytes.fromhex(each) for each in sorted(ids))


def test_it_works() -> None:
    fleet, peer = lived()
    found = verdict(sent(fleet), counted(peer), phones=PHONES)
    assert PHONES / 2 < found.phones == found.sent == found.counted
    assert (found.double, found.lost, found.strange) == (0, 0, 0)
    assert ((sent(fleet).hours >= 0) & (sent(fleet).hours < 7 * 24)).all()


def test_what_phones_hear_is_noted() -> None:
    """Half of what the peer counts is taken back behind the phones' backs."""
    fleet, peer = lived(hours_of_sessions=24)
    told = sent(fleet).words
    assert set(told.word.tolist()) == {Word.SENT, Word.COUNTED}
    kept = counted(peer)[: 8 * (len(counted(peer)) // 16)]
    found = verdict(sent(fleet), kept, phones=PHONES)
    assert found.lost == found.phones - len(kept) // 8
    assert found.forgotten == found.last_words[Word.COUNTED] > 0
    assert found.last_words.total() == found.lost


def test_who_comes_too_late_sends_again_in_the_same_week() -> None:
    """Not at its last moment alone, after which there would be no other."""
    fleet, peer = lived(too_late=0.5)
    found = verdict(sent(fleet), counted(peer), phones=PHONES)
    assert found.sent > 1.5 * found.phones
    # Who has but a few good moments in a week may be too late at each of them.
    assert found.lost < found.phones / 10
    assert found.double == 0


def test_phones_that_forget_are_counted_twice_and_it_shows() -> None:
    fleet, peer = lived(unusual={"forgetful": 0.5})
    found = verdict(sent(fleet), counted(peer), phones=PHONES)
    assert found.double == found.sent - found.phones > 0


def test_what_could_do_nothing_is_left_out() -> None:
    fleet, peer = lived()
    people = world("demo", phones=PHONES, most_wake_ups=0, unusual={})
    moments = [
        conditions
        for phone in range(PHONES)
        for _, conditions in people.wake_ups(phone, START, MONDAY + 2 * SECONDS)
    ]
    good = sum(map(is_good, moments))
    assert fleet.report.wake_ups < good < len(moments)
    # In the week after: one to send, and one to ask how it fared.
    assert peer.calls.count("status") <= fleet.report.sent


def test_traffic_of_queries_without_an_end_is_told_in_the_end() -> None:
    fleet, _ = lived()
    settled = sum(fleet.report.both.values())
    fleet.lives.close_accounts()
    assert settled < sum(fleet.report.both.values()) == fleet.report.sent
