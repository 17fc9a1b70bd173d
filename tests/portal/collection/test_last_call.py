"""The last call: who is on the way to a session that ends by itself is in it."""

import time

import pytest

from portal.collection import last_call
from portal.collection.models import Session
from portal.collection.running import look_around, serve
from tests.parts import eventually
from tests.portal.collection.collecting import MAX, MIN

pytestmark = pytest.mark.databases

FIRST = "2026-11-17"
Reason = Session.Reason


@pytest.fixture
def unhurried(settings):
    """Looks are a second apart: nothing that a test does takes as long as two of them."""
    settings.HEARTBEAT_SECONDS = 60


def reason_of(run):
    return Session.objects.get(pk=run.row.pk).reason


def test_whoever_comes_after_a_session_is_full_is_in_it(collecting, unhurried):
    run = collecting.by_hand([FIRST], MAX)
    assert not look_around(run)
    # Front ends read this, and send nobody to it any more; some are on their way.
    assert reason_of(run) == Reason.FULL
    collecting.send(run.row, [FIRST], 3)
    serve(run)
    assert run.summing.accepted == MAX + 3


def test_a_session_that_is_asked_to_end_has_a_last_call_too(collecting, unhurried):
    run = collecting.by_hand([FIRST], MIN)
    Session.objects.filter(pk=run.row.pk).update(reason=Reason.QUIET)
    assert not look_around(run)
    collecting.send(run.row, [FIRST], 1)
    serve(run)
    assert run.summing.accepted == MIN + 1


def test_a_session_does_not_wait_for_ever_for_those_who_keep_coming(collecting, unhurried):
    run = collecting.by_hand([FIRST], MAX)
    assert not look_around(run)
    run.called_at -= last_call.LONGEST_SECONDS
    run.meters.took_at = time.monotonic()
    assert look_around(run)


def test_nobody_is_waited_for_where_somebody_waits_for_the_session(collecting, unhurried):
    run = collecting.by_hand([FIRST], MIN)
    collecting.go_to("2026-11-20T00:00:01")
    assert look_around(run)
    assert reason_of(run) == Reason.WINDOW_CLOSED
    assert last_call.is_over(run, Reason.DRAIN)


def test_a_session_to_which_nobody_comes_ends_soon(collecting):
    run = collecting.by_hand([FIRST], MAX)
    eventually(lambda: look_around(run))
    assert time.monotonic() - run.called_at < last_call.LONGEST_SECONDS
