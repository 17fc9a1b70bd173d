"""When a session ends: a closed window's sum waits for its collector, whatever its size."""

import time

import pytest

from aggregation.protocol.sealing import SessionKeys
from portal.collection import ending, gathering, live
from portal.collection.models import Session
from portal.collection.running import look_around
from tests.portal.collection.collecting import MAX, MIN

pytestmark = pytest.mark.databases

FIRST, SECOND = "2026-11-17", "2026-11-18"
DUE = "2026-11-20T00:00:01"
Reason = Session.Reason


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
    run.called_at = run.closed_at = time.monotonic() - ending.MOST_WAIT_SECONDS
    assert look_around(run)


def test_a_release_that_is_not_to_be_had_is_not_waited_for_for_ever(collecting):
    big, small = (collecting.by_hand([FIRST], count) for count in (MIN, MIN - 1))
    collecting.go_to(DUE)
    for run in (big, small):
        assert not look_around(run)
        run.closed_at = time.monotonic() - ending.MOST_WAIT_SECONDS
    assert look_around(big)
    assert not look_around(small)
