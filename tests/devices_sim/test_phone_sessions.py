"""What becomes of an update: sessions that die, close, forget and never end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from aggregation.clock import ManualClock
from tests.aggregation.ondevice.examples import WEEK, trip
from tests.devices_sim.conftest import MakePhone
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi
from tests.devices_sim.waking import SOON, after_the_week, awake


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
