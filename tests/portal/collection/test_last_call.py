"""The last call: who is on the way to a session that ends by itself is in it."""

import msgspec
import pytest

from portal.collection import last_call, live, placing
from portal.collection import run as run_module
from portal.collection.models import Session
from portal.collection.running import look_around
from portal.valkey import queue_client
from tests.portal.collection.collecting import MAX, MIN

pytestmark = pytest.mark.databases

FIRST = "2026-11-17"
Reason = Session.Reason


def calling(collecting, settings, count, reason=Reason.NONE):
    """A session that has just begun its last call, which lasts a minute."""
    settings.SNAPSHOT_SECONDS = 40
    run = collecting.by_hand([FIRST], count)
    Session.objects.filter(pk=run.row.pk).update(reason=reason)
    assert not look_around(run)
    return run


def some_come(collecting, run):
    assert len(collecting.send(run.row, [FIRST], 3)) == 3
    run.summing.take(live.pop(run.row.pk, 10))


@pytest.mark.parametrize(
    ("count", "reason"), [(MAX, Reason.NONE), (MIN, Reason.QUIET)], ids=["full", "quiet"]
)
def test_whoever_comes_after_a_session_takes_no_more_is_in_it(collecting, settings, count, reason):
    run = calling(collecting, settings, count, reason)
    # Front ends read this, and send nobody to it any more; some are on their way.
    assert Session.objects.get(pk=run.row.pk).reason == (reason or Reason.FULL)
    some_come(collecting, run)
    assert not look_around(run)
    assert run.summing.accepted == count + 3


def test_how_long_it_lasts_does_not_depend_on_who_comes(collecting, settings):
    run = calling(collecting, settings, MAX)
    run.called_at -= last_call.seconds()
    some_come(collecting, run)
    assert look_around(run)


def test_it_is_not_waited_for_where_somebody_waits_for_the_session(
    collecting, settings, monkeypatch
):
    run = calling(collecting, settings, MAX)
    assert last_call.is_over(run, Reason.DRAIN)
    collecting.go_to("2026-11-20T00:00:01")
    monkeypatch.setattr(run_module, "MOST_WAIT_SECONDS", 0)
    assert look_around(run)
    assert Session.objects.get(pk=run.row.pk).reason == Reason.WINDOW_CLOSED


def test_whoever_waits_for_a_slot_does_not_wait_for_a_last_call(collecting, settings):
    run = calling(collecting, settings, MIN, Reason.QUIET)
    found = placing.Findings(slots=1, taken=1, waiting=("another task",))
    queue_client().set(placing.FINDINGS, msgspec.json.encode(found))
    assert look_around(run)


def test_it_lasts_until_front_ends_have_heard_of_it_and_devices_have_sent(settings):
    settings.HEARTBEAT_SECONDS, settings.SNAPSHOT_SECONDS = 2, 1
    assert last_call.seconds() == 9
    settings.HEARTBEAT_SECONDS = 3600
    assert last_call.seconds() == 60
