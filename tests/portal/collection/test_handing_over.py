"""What is small goes on from memory to memory, and counts once, wherever it ends."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from aggregation.protocol.ids import fresh_update_id
from aggregation.sessions.receipts import has_receipt
from portal.audit.services import move
from portal.collection import flushing, handing_over, live, placing
from portal.collection import run as run_module
from portal.collection.beating import patience_seconds
from portal.collection.completing import complete
from portal.collection.erasing import erase_partials
from portal.collection.flushing import flush
from portal.collection.leaving import make_ready
from portal.collection.models import HandOver, Partial, Receipts, Session
from portal.collection.running import look_around
from portal.collection.selectors import holders, outcome, outstanding
from portal.valkey import queue_client
from tests.parts import eventually
from tests.portal.collection.collecting import MAX, counted, gathered_sum, release

pytestmark = pytest.mark.databases

FIRST, SECOND = "2026-11-17", "2026-11-18"


def drain(collecting, worker):
    collecting.stopping.add(worker)


def test_a_full_session_hands_its_small_window_over(collecting):
    collecting.go_to("2026-11-19T00:00:00")
    full = collecting.start(*collecting.place())
    only_first = collecting.send(full, [FIRST], MAX - 5)
    both = collecting.send(full, [FIRST, SECOND], 5)
    eventually(lambda: Session.objects.get(pk=full.pk).reason == "full")
    # It waits for a successor, which the controller sees to; devices are not sent to it any more.
    successor = collecting.start(*collecting.place())
    collecting.until(full.pk, "flushed")
    eventually(lambda: HandOver.objects.filter(received=True).count() == 1)
    assert outcome(full.pk).over is False
    later = collecting.send(successor, [SECOND], 3)
    collecting.taken(successor, 3)
    collecting.count(only_first + both + later)
    collecting.go_to("2026-11-21T00:00:01")
    for window, devices in ((FIRST, MAX), (SECOND, 8)):
        report = gathered_sum(collecting, window)
        assert report.contributions == devices
        assert (report.sums == collecting.truth[window]).all()
    # The rest of the chain is over now, and what was stored has its receipts.
    assert counted(full.pk, both[0]) == [FIRST]


def test_whoever_came_too_late_for_a_session_that_handed_over_may_send_again_at_once(collecting):
    early = collecting.start(*collecting.place())
    (taken, *_) = collecting.send(early, [FIRST], 40)
    collecting.taken(early, 40)
    successor = collecting.opened(worker="two")
    drain(collecting, "one")
    collecting.until(early.pk, "flushed")
    eventually(lambda: HandOver.objects.filter(received=True).count() == 1)
    found, late = outcome(early.pk), fresh_update_id()
    assert (found.over, found.counted(taken), found.counted(late)) == (False, None, ())
    # They are named once; when the window is done, so that nobody sends it again, no more.
    with pytest.raises(IntegrityError), transaction.atomic():
        HandOver.objects.update(ids=b"12345678")
    collecting.go_to("2026-11-20T00:00:01")
    assert gathered_sum(collecting, FIRST).contributions == 40
    release(collecting, FIRST)
    erase_partials(clock=collecting.clock)
    assert HandOver.objects.get(session=early, successor=successor).ids is None


def test_a_chain_of_three_ends_in_one_partial_with_all_receipts(collecting, monkeypatch):
    one = collecting.start(*collecting.place())
    updates = {one.pk: collecting.send(one, [FIRST], 40)}
    sessions = [one]
    for worker, before in (("two", "one"), ("three", "two")):
        collecting.taken(sessions[-1], 40)
        sessions.append(collecting.opened(worker=worker))
        drain(collecting, before)
        collecting.until(sessions[-2].pk, "flushed")
        assert outcome(one.pk).over is False
        updates[sessions[-1].pk] = collecting.send(sessions[-1], [FIRST], 40)
    last = sessions[-1]
    collecting.taken(last, 40)
    eventually(lambda: not HandOver.objects.filter(received=False).exists())
    for ids in updates.values():
        collecting.count(ids)
    # 120 are enough to be stored: where there is no collector, none is needed for that.
    monkeypatch.setattr(run_module, "MOST_WAIT_SECONDS", 0)
    collecting.go_to("2026-11-20T00:00:01")
    assert collecting.until(last.pk, "flushed").reason == "window_closed"
    assert Partial.objects.get().session_id == last.pk
    assert set(Receipts.objects.values_list("flushed_by", flat=True)) == {last.pk}
    for session, ids in updates.items():
        assert all(counted(session, update) == [FIRST] for update in ids)
        assert len(bytes(Receipts.objects.get(session=session).ids)) == 8 * 40
    report = gathered_sum(collecting, FIRST)
    assert (report.sums == collecting.truth[FIRST]).all()


def test_everything_small_goes_to_the_collector(collecting):
    one, two = collecting.start(*collecting.place()), collecting.opened(worker="two")
    updates = collecting.send(one, [FIRST], 7) + collecting.send(two, [FIRST], 11)
    collecting.taken(one, 7)
    collecting.taken(two, 11)
    collecting.count(updates)
    collecting.go_to("2026-11-20T00:00:01")
    report = gathered_sum(collecting, FIRST)
    assert report.contributions == 18
    assert (report.sums == collecting.truth[FIRST]).all()
    assert not Partial.objects.exists()
    assert outcome(one.pk).over
    assert outcome(two.pk).over


def test_a_worker_that_stops_without_anyone_else_drops_big_and_small_alike(collecting):
    session = collecting.start(*collecting.place())
    updates = collecting.send(session, [FIRST], MAX - 1)
    collecting.taken(session, MAX - 1)
    drain(collecting, "one")
    row = collecting.until(session.pk, "dead")
    assert row.reason == "no_successor"
    assert not Partial.objects.exists()
    assert counted(session.pk, updates[0]) == []


def test_a_drained_session_stores_what_is_big_and_hands_over_the_rest(collecting):
    collecting.go_to("2026-11-19T00:00:00")
    session = collecting.start(*collecting.place())
    collecting.opened(worker="two")
    updates = collecting.send(session, [FIRST, SECOND], 20) + collecting.send(session, [FIRST], 80)
    collecting.taken(session, 100)
    drain(collecting, "one")
    collecting.until(session.pk, "flushed")
    assert Partial.objects.get().window.window == FIRST
    assert HandOver.objects.get().window.window == SECOND
    collecting.count(updates)
    collecting.go_to("2026-11-21T00:00:01")
    assert (gathered_sum(collecting, SECOND).sums == collecting.truth[SECOND]).all()


def flushed_but_not_pushed(collecting, successor, count=10):
    """A session that crashed between its commit and its push."""
    run = collecting.by_hand([FIRST], count)
    return run, flushed_to(collecting, run, successor)


def flushed_to(collecting, run, successor):
    assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    (window,) = run.windows
    leaving = make_ready(
        session=run.row,
        summing=run.summing,
        open_windows=[window],
        handing_over=[window],
        clock=collecting.clock,
    )
    takers = {window: Session.objects.get(pk=successor.pk)}
    flush(session=run.row, leaving=leaving, takers=takers, clock=collecting.clock)
    return leaving


def test_a_successor_waits_for_what_is_on_its_way(collecting):
    successor = collecting.start(*collecting.place())
    run, leaving = flushed_but_not_pushed(collecting, successor)
    collecting.send(successor, [FIRST], MAX)
    collecting.until(successor.pk, "completing")
    # Complete but for the one that is on its way.
    assert outcome(run.row.pk).over is False
    handing_over.push(run.row, leaving.small[0], successor)
    collecting.until(successor.pk, "flushed")
    ids = bytes(Receipts.objects.get(session=run.row).ids)
    assert len(ids) == 8 * 10
    assert Receipts.objects.get(session=successor).flushed_by_id == successor.pk


def test_a_push_that_never_comes_is_given_up(collecting, monkeypatch):
    monkeypatch.setattr(handing_over, "OVERDUE_SECONDS", 0.5)
    successor = collecting.start(*collecting.place())
    run, leaving = flushed_but_not_pushed(collecting, successor)
    collecting.send(successor, [FIRST], MAX)
    collecting.until(successor.pk, "flushed")
    # Nothing of the crashed one is counted, and its devices may send again.
    assert outcome(run.row.pk) is not None
    assert outcome(run.row.pk).over
    assert outcome(run.row.pk).receipts == {}
    # A push that comes after all changes nothing.
    handing_over.push(run.row, leaving.small[0], successor)
    assert not Receipts.objects.filter(session=run.row).exists()


def test_an_open_session_gives_up_on_it_too(collecting, monkeypatch):
    """Else it would keep a hold on the window, and nobody could release it."""
    monkeypatch.setattr(handing_over, "OVERDUE_SECONDS", 0.5)
    taker = collecting.by_hand([FIRST], 0)
    run, leaving = flushed_but_not_pushed(collecting, taker.row)
    live.forget(run.row.pk)
    collecting.go_to("2026-11-20T00:00:01")
    assert not look_around(taker)
    assert list(holders(collecting.window(FIRST))) == [taker.row]
    eventually(lambda: not look_around(taker) and not holders(collecting.window(FIRST)).exists())
    # Should it come after all, there is no place for it.
    handing_over.push(run.row, leaving.small[0], taker.row)
    assert not look_around(taker)
    assert taker.summing.windows_held == ()
    assert gathered_sum(collecting, FIRST).contributions == 0


def test_what_is_handed_over_while_it_gives_up_is_waited_for(collecting, monkeypatch):
    taker, run, late = collecting.by_hand([FIRST], 0), collecting.by_hand([FIRST], 10), []

    def one_more_comes(_, rows):
        late.append(flushed_to(collecting, run, taker.row))
        return not list(rows)

    monkeypatch.setattr(handing_over.Arrivals, "are_over", one_more_comes)
    collecting.go_to("2026-11-20T00:00:01")
    assert not look_around(taker)
    assert list(holders(collecting.window(FIRST))) == [taker.row]
    handing_over.push(run.row, late[0].small[0], taker.row)
    taker.receive()
    assert taker.summing.contributions(*run.windows) == 10


def test_a_sender_that_lives_is_waited_for(collecting, monkeypatch, settings):
    """It has committed, and cannot read yet that it has; as long as it would wait itself."""
    settings.SESSION_LAPSE_SECONDS = 1
    monkeypatch.setattr(handing_over, "OVERDUE_SECONDS", 0)
    taker = collecting.by_hand([FIRST], 0)
    run, _ = flushed_but_not_pushed(collecting, taker.row)
    awaited = outstanding(taker.row)
    for _ in range(3):
        assert not taker.arrivals.are_over(awaited)
    live.forget(run.row.pk)
    assert taker.arrivals.are_over(awaited)
    live.beat(run.row.pk)
    began = time.monotonic()

    def are_over():
        live.beat(run.row.pk)
        return taker.arrivals.are_over(awaited)

    eventually(are_over)
    assert time.monotonic() - began < 2 * patience_seconds()


def test_the_clocks_of_two_machines_are_not_compared(collecting, monkeypatch):
    class Behind(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) - timedelta(hours=1)

    monkeypatch.setattr(flushing, "datetime", Behind)
    taker = collecting.by_hand([FIRST], 0)
    run, _ = flushed_but_not_pushed(collecting, taker.row)
    live.forget(run.row.pk)
    assert not taker.arrivals.are_over(outstanding(taker.row))
    monkeypatch.setattr(handing_over, "OVERDUE_SECONDS", 0)
    assert taker.arrivals.are_over(outstanding(taker.row))


def test_what_a_dead_successor_took_is_not_counted(collecting):
    successor = collecting.start(*collecting.place())
    run, leaving = flushed_but_not_pushed(collecting, successor)
    handing_over.push(run.row, leaving.small[0], successor)
    eventually(lambda: HandOver.objects.get().received)
    row = Session.objects.get(pk=successor.pk)
    placing.bury(row, Session.Reason.LOST, clock=collecting.clock)
    assert outcome(run.row.pk).over
    assert outcome(run.row.pk).receipts == {}


def test_a_state_that_comes_twice_counts_once(collecting):
    successor = collecting.start(*collecting.place())
    run, leaving = flushed_but_not_pushed(collecting, successor, count=60)
    for _ in range(3):
        handing_over.push(run.row, leaving.small[0], successor)
    eventually(lambda: HandOver.objects.get().received)
    updates = collecting.send(successor, [FIRST], 60)
    collecting.taken(successor, 60)
    collecting.go_to("2026-11-20T00:00:01")
    assert gathered_sum(collecting, FIRST).contributions == 120
    assert has_receipt(bytes(Receipts.objects.get(session=successor).ids), updates[0])


def test_what_nobody_handed_over_is_not_taken(collecting):
    """A state that the database knows nothing of, and rubbish, from whoever reaches Valkey."""
    successor = collecting.start(*collecting.place())
    stranger = collecting.by_hand([FIRST], 50)
    (window,) = stranger.windows
    completion = stranger.summing.complete(open_windows=[window], handing_over=[window])
    handing_over.push(stranger.row, completion.small[0], successor)
    live.push_state(successor.pk, b"rubbish")
    eventually(lambda: not queue_client().exists(live.key(successor.pk, "handovers")))
    collecting.send(successor, [FIRST], MAX)
    collecting.until(successor.pk, "flushed")
    assert len(bytes(Receipts.objects.get().ids)) == 8 * MAX


def test_a_taker_that_is_gone_is_replaced_by_another(collecting):
    gone, run = collecting.start(*collecting.place()), collecting.by_hand([FIRST], 10)
    other = collecting.opened(worker="two")
    run.row.reason = Session.Reason.FULL
    placing.bury(Session.objects.get(pk=gone.pk), Session.Reason.LOST, clock=collecting.clock)
    complete(run)
    assert HandOver.objects.get().successor_id == other.pk
    eventually(lambda: HandOver.objects.get().received)


@dataclass
class Meanwhile:
    """A clock that lets something happen when it is asked for the second time."""

    clock: Any
    happens: Callable[[], object]
    asked: int = 0

    def now(self):
        self.asked += 1
        if self.asked == 2:
            self.happens()
        return self.clock.now()


def test_a_closed_window_may_come_while_its_successor_looks_around(collecting):
    """It was closed before the successor opened, which therefore has had no hold on it."""
    drained = collecting.by_hand([FIRST], 10)
    collecting.go_to("2026-11-19T00:00:00")
    collecting.go_to("2026-11-20T00:00:01")
    successor = collecting.by_hand([SECOND], 5)
    drained.row.reason = Session.Reason.DRAIN
    # Between what it has a hold on and what has come: then it asks for the time once more.
    successor.clock = Meanwhile(collecting.clock, lambda: complete(drained))
    for _ in range(2):
        assert not look_around(successor)
    assert HandOver.objects.get().received
    assert [window.id for window in successor.summing.windows_held] == [FIRST, SECOND]
