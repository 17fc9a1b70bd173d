"""When a session ends: a closed window's sum waits for its collector, whatever its size."""

import threading
import time
from datetime import datetime, timedelta

import pytest

from aggregation.protocol.sealing import SessionKeys
from portal.collection import completing, ending, gathering, live
from portal.collection.completing import complete
from portal.collection.ending import Standing
from portal.collection.erasing import erase_partials
from portal.collection.keeping import Keeper
from portal.collection.merging import merge_partials
from portal.collection.models import HandOver, Partial, Session
from portal.collection.placing import bury
from portal.collection.run import MOST_WAIT_SECONDS
from portal.collection.running import look_around
from portal.collection.selectors import holders
from tests.portal.collection.collecting import MAX, MIN, gathered_sum

pytestmark = pytest.mark.databases

FIRST, SECOND = "2026-11-17", "2026-11-18"
DUE = "2026-11-20T00:00:01"
Reason = Session.Reason


def waits_long(run):
    """As if everything that has closed had waited for its collector for ten minutes."""
    run.closed_at = dict.fromkeys(run.closed_at, time.monotonic() - MOST_WAIT_SECONDS)


@pytest.mark.parametrize("count", [MIN - 1, MIN, MAX], ids=["small", "big", "full"])
def test_a_process_that_dies_before_the_release_loses_what_it_holds_whatever_its_size(
    collecting, count
):
    """Were the big one stored at once, and the small one lost, one device would decide over all
    the others: their window is closed, and they cannot send again."""
    run = collecting.by_hand([FIRST], count)
    collecting.go_to(DUE)
    for _ in range(3):
        assert not look_around(run)
    gathering._opened_collector(
        collecting.window(FIRST), SessionKeys.fresh(), "hand", collecting.clock
    )
    assert look_around(run)
    assert run.row.reason == Reason.WINDOW_CLOSED


def test_who_is_old_does_not_store_what_has_closed_either(collecting, monkeypatch):
    run = collecting.by_hand([FIRST], MIN)
    monkeypatch.setattr(ending, "_is_old", lambda _: True)
    collecting.go_to(DUE)
    assert not look_around(run)
    assert run.row.reason == Reason.OLD
    assert not ending.is_ready(run, Reason.OLD)


def test_nor_does_what_has_closed_keep_a_full_session_for_ever(collecting):
    """A few devices of a window whose release cannot begin, and many of the next one."""
    collecting.go_to("2026-11-19T12:00:00")
    run = collecting.by_hand([FIRST], MIN - 1)
    collecting.send(run.row, [SECOND], MAX)
    run.summing.take(live.pop(run.row.pk, MAX))
    collecting.by_hand([FIRST, SECOND], 0)  # somebody who takes over
    collecting.go_to(DUE)
    for _ in range(2):
        assert not look_around(run)
    assert run.row.reason == Reason.FULL
    run.called_at = time.monotonic() - MOST_WAIT_SECONDS
    waits_long(run)
    assert look_around(run)


def test_a_release_that_is_not_to_be_had_is_not_waited_for_for_ever(collecting):
    big, small = (collecting.by_hand([FIRST], count) for count in (MIN, MIN - 1))
    collecting.go_to(DUE)
    for run in (big, small):
        assert not look_around(run)
        waits_long(run)
    assert look_around(big)
    assert not look_around(small)


def two_closed(collecting, count):
    """A session with five devices of one window and so many of the next; both have closed."""
    run = collecting.by_hand([FIRST], 5)
    collecting.go_to("2026-11-19T00:00:01")
    assert not look_around(run)
    collecting.send(run.row, [SECOND], count)
    run.summing.take(live.pop(run.row.pk, count))
    collecting.go_to("2026-11-21T00:00:01")
    assert not look_around(run)
    return run


def collector(collecting, window):
    keys = SessionKeys.fresh()
    return gathering._opened_collector(collecting.window(window), keys, "hand", collecting.clock)


@pytest.mark.parametrize("count", [MIN - 1, MIN], ids=["small", "big"])
def test_each_closed_window_waits_for_its_own_collector(collecting, count):
    run = two_closed(collecting, count)
    collector(collecting, FIRST)
    assert not look_around(run)
    collector(collecting, SECOND)
    assert look_around(run)


def test_windows_whose_collectors_never_live_at_once_are_released_all_the_same(collecting):
    """Few collectors are there at a time, and each gives up after two minutes."""
    run = two_closed(collecting, 6)
    for window in (FIRST, SECOND, FIRST):
        waiting = collector(collecting, window)
        assert not look_around(run)
        bury(waiting, Reason.FAULT, clock=collecting.clock)
    waits_long(run)
    assert look_around(run)
    keeper = Keeper(run.row, complete(run), collecting.clock, lambda: False)
    assert not Partial.objects.exists()

    def keep():
        with collecting.in_thread():
            keeper.keep()

    collecting.threads.append(threading.Thread(target=keep, daemon=True))
    collecting.threads[-1].start()
    assert gathered_sum(collecting, FIRST).contributions == 5
    assert gathered_sum(collecting, SECOND).contributions == 6


def test_a_worker_that_stops_keeps_nothing_for_a_collector_to_come(collecting):
    run = collecting.by_hand([FIRST], 5)
    collecting.go_to(DUE)
    bury(collector(collecting, FIRST), Reason.FAULT, clock=collecting.clock)
    assert not look_around(run)
    waits_long(run)
    assert ending.find_takers(run, run.summing.windows_held)
    run.is_draining = lambda: True
    assert ending.find_takers(run, run.summing.windows_held) is None


def test_what_is_never_released_is_dropped_when_it_would_have_expired(collecting, caplog):
    """Such as of a task whose approval does not verify: it lives on, and takes part in the rest."""
    run = collecting.by_hand([FIRST], 5)
    for when in (DUE, "2026-11-26T23:00:00"):
        collecting.go_to(when)
        assert not look_around(run)
        assert [one.id for one in run.summing.windows_held] == [FIRST]
        waits_long(run)
    collecting.go_to("2026-11-27T00:00:01")
    assert not look_around(run)
    assert run.summing.windows_held == ()
    assert not holders(collecting.window(FIRST)).exists()
    assert f"Session {run.row.pk} drops {FIRST}" in caplog.text


def test_what_waits_for_a_release_lives_as_long_as_what_is_stored(collecting):
    """A key comes back after days: were only the large sums left, one device would decide."""
    big, small = (collecting.by_hand([FIRST], count) for count in (MIN, MIN - 1))
    collecting.go_to(DUE)
    for run in (big, small):
        assert not look_around(run)
        waits_long(run)
    assert look_around(big)
    complete(big)
    collecting.go_to("2026-11-21T00:00:05")
    merge_partials(clock=collecting.clock)
    collecting.go_to("2026-11-26T23:00:00")
    erase_partials(clock=collecting.clock)
    assert not look_around(small)
    waiting = collector(collecting, FIRST)
    assert look_around(small)
    complete(small)
    bury(waiting, Reason.FAULT, clock=collecting.clock)
    assert Partial.objects.get(state="stored").expires_at > collecting.clock.now()
    assert HandOver.objects.get().successor == waiting


def test_nor_does_a_session_that_ends_keep_for_ever_what_nobody_takes(collecting, monkeypatch):
    run = collecting.by_hand([FIRST], 7)
    run.row.reason = Reason.FULL
    waited = []

    def days_go_by(_):
        collecting.go_to("2026-11-28T00:00:01")
        waits_long(run)
        waited.append(True)
        assert len(waited) < 9

    monkeypatch.setattr(completing, "_pause", days_go_by)
    complete(run)
    assert waited
    assert Session.objects.get(pk=run.row.pk).state == "flushed"
    assert not HandOver.objects.exists()


@pytest.mark.parametrize("draining", [False, True])
def test_the_collector_that_lives_is_found_whatever_the_clocks_of_others_said(
    collecting, monkeypatch, draining
):
    run = collecting.by_hand([FIRST], 7)
    collecting.go_to(DUE)

    class Ahead(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(hours=1)

    with monkeypatch.context() as before:
        before.setattr(gathering, "datetime", Ahead)
        bury(collector(collecting, FIRST), Reason.FAULT, clock=collecting.clock)
    alive = collector(collecting, FIRST)
    run.is_draining = lambda: draining
    look_around(run)
    (found,) = ending.find_takers(run, run.summing.windows_held).values()
    assert found == alive


@pytest.mark.parametrize("count", [MIN - 1, MIN], ids=["small", "big"])
def test_a_worker_that_stops_while_it_stores_keeps_nothing_for_a_collector_to_come(
    collecting, monkeypatch, settings, count
):
    """It had found that a dead one stands for the next, which is here by now."""
    settings.DRAIN_SECONDS = 0.5
    run = collecting.by_hand([FIRST], count)
    collecting.go_to(DUE)
    bury(collector(collecting, FIRST), Reason.FAULT, clock=collecting.clock)
    assert not look_around(run)
    waits_long(run)
    assert look_around(run)
    stopping, ready_by_then = [], completing.make_ready

    def stops(**what):
        stopping.append(collector(collecting, FIRST))
        return ready_by_then(**what)

    run.is_draining = lambda: bool(stopping)
    monkeypatch.setattr(completing, "make_ready", stops)
    complete(run)
    if count < MIN:
        assert HandOver.objects.get().successor == stopping[0]
    else:
        assert Partial.objects.exists()


COLLECTORS = {state: Session(state=state) if state else None for state in ("", "open", "dead")}


@pytest.mark.parametrize("is_closed", [False, True])
@pytest.mark.parametrize("state", COLLECTORS)
@pytest.mark.parametrize("is_draining", [False, True])
@pytest.mark.parametrize("other", [None, Session(pk="other")])
def test_until_a_sum_has_waited_for_long_its_size_decides_nothing(
    is_closed, state, is_draining, other
):
    def decided(*, is_small):
        one = Standing(is_small, is_closed, is_late=False, collector=COLLECTORS[state])
        return one.may_leave, one.is_waited_for, one.taker(other, is_draining=is_draining)

    assert decided(is_small=True) == decided(is_small=False)
