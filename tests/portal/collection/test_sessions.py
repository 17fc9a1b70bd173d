"""Sessions that are run: with a real Valkey and real commits, on both databases."""

import time

import pytest

from portal.audit.models import Entry
from portal.audit.verification import verify_log
from portal.collection import live, placing, running
from portal.collection.models import Hold, Partial, Receipts, Session
from portal.collection.run import Run
from portal.collection.running import look_around, run_session
from portal.collection.said import said
from portal.collection.selectors import outcome
from portal.collection.snapshot import snapshot
from portal.tasks.models import TaskWindow
from portal.valkey import queue_client
from tests.parts import eventually
from tests.portal.collection.collecting import MAX, MIN, counted, gathered_sum

pytestmark = pytest.mark.databases

FIRST, SECOND = "2026-11-17", "2026-11-18"


def test_it_works(collecting):
    (session_id,) = collecting.place()
    session = collecting.start(session_id)
    updates = collecting.send(session, [FIRST], MAX)
    collecting.until(session_id, "flushed")
    collecting.count(updates)
    partial = Partial.objects.get()
    assert (partial.session_id, partial.level, partial.state) == (session_id, 1, "stored")
    assert all(counted(session_id, update) == [FIRST] for update in updates)
    assert counted(session_id, "00" * 8) == []
    collecting.go_to("2026-11-20T00:00:01")
    report = gathered_sum(collecting, FIRST)
    assert report.contributions == MAX
    assert (report.sums == collecting.truth[FIRST]).all()
    assert Partial.objects.get().state == "merged"
    assert TaskWindow.objects.get(window=FIRST).state == "releasing"
    entries = Entry.objects.filter(object_id=session_id).order_by("seq")
    assert [entry.action.partition(".")[2] for entry in entries] == [
        "requested", "open", "completing", "flushed",
    ]  # fmt: skip
    assert verify_log(whole=True).problem == ""


def test_the_same_session_is_run_once(collecting):
    (session_id,) = collecting.place()
    collecting.start(session_id)
    assert not live.claim(session_id, "another")
    assert collecting.place() == []


def test_what_waits_in_the_queue_counts_when_a_session_ends(collecting):
    session = collecting.start(*collecting.place())
    updates = collecting.send(session, [FIRST], MAX + 50)
    collecting.until(session.pk, "flushed")
    ids = b"".join(bytes(row.ids) for row in Receipts.objects.all())
    # Those that came after the queue was closed were told so; all others are in.
    assert len(ids) == 8 * len(updates)
    assert not collecting.push(session, "00" * 8, b"late")


def test_nothing_is_taken_before_it_is_known_which_windows_are_open(collecting, monkeypatch):
    """Not even where the first look around does not succeed."""
    (placed,) = collecting.place()
    run = running._opened(placed, "one", collecting.clock, lambda: False)
    collecting.send(run.row, [FIRST], 3)
    looks = []

    def look(run: Run) -> bool:
        looks.append(run.summing.counts)
        if len(looks) == 1:
            run.waits_since = time.monotonic()
            return False
        return look_around(run) or bool(run.summing.accepted or run.summing.counts)

    monkeypatch.setattr(running, "look_around", look)
    monkeypatch.setattr(running, "look_seconds", lambda: 0.0)
    running.serve(run)
    assert (run.summing.accepted, run.summing.counts) == (3, {})


def test_counts_in_the_database_are_coarse(collecting):
    session = collecting.start(*collecting.place())
    collecting.push(session, "11" * 8, b"not an update at all")
    collecting.send(session, [FIRST], MAX)
    row = collecting.until(session.pk, "flushed")
    assert row.counts["accepted"] == "< 1000"
    assert set(row.counts.values()) == {"< 1000"}


def test_a_new_window_is_held_before_devices_are_told(collecting):
    session = collecting.start(*collecting.place())
    collecting.go_to("2026-11-19T00:00:00")
    eventually(lambda: Hold.objects.filter(session=session).count() == 2)
    eventually(lambda: snapshot(clock=collecting.clock)["tasks"][0]["sessions"])
    updates = collecting.send(session, [FIRST, SECOND], 3)
    collecting.taken(session, len(updates))


def test_a_session_that_holds_nothing_lets_a_window_go(collecting):
    session = collecting.start(*collecting.place())
    collecting.go_to("2026-11-20T00:00:01")
    eventually(lambda: not Hold.objects.filter(session=session, window__window=FIRST).exists())
    # The 18th and the 19th are open now.
    eventually(lambda: session.holds.count() == 2)
    assert gathered_sum(collecting, FIRST).contributions == 0


def test_a_session_with_nothing_left_to_collect_ends(collecting):
    from portal.tasks import services

    ada = collecting.revision.author
    services.pause(task=collecting.revision.task, reason="", actor=ada, clock=collecting.clock)
    session = collecting.start(*collecting.place())
    collecting.go_to("2026-11-21T00:00:01")
    row = collecting.until(session.pk, "flushed")
    assert row.reason == "idle"
    assert not Partial.objects.exists()


def test_an_old_session_ends_when_it_can(collecting, monkeypatch):
    from portal.collection import ending

    small = collecting.start(*collecting.place())
    collecting.send(small, [FIRST], MIN - 1)
    collecting.taken(small, MIN - 1)
    monkeypatch.setattr(ending, "_is_old", lambda run: True)
    # Below the least number it does not end by age …
    eventually(lambda: said([small.pk])[small.pk].status.queue == 0)
    assert Session.objects.get(pk=small.pk).reason == ""
    collecting.send(small, [FIRST], 1)
    # … and with one more it does.
    assert collecting.until(small.pk, "flushed").reason == "old"


def test_a_session_that_is_declared_dead_drops_what_it_holds(collecting):
    session = collecting.start(*collecting.place())
    updates = collecting.send(session, [FIRST], MIN)
    collecting.taken(session, MIN)
    row = Session.objects.get(pk=session.pk)
    assert placing.bury(row, Session.Reason.LOST, clock=collecting.clock)
    collecting.join()
    assert not Partial.objects.exists()
    assert not Receipts.objects.exists()
    assert counted(session.pk, updates[0]) == []
    assert not list(queue_client().scan_iter(f"mayfly:session:{session.pk}:[acmqsu]*"))


def test_a_lapsed_session_is_buried_and_replaced(collecting):
    zombie = collecting.by_hand([FIRST], MIN)
    assert collecting.place() == []

    def replaced():
        (placed,) = collecting.place() or [None]
        return placed

    placed = eventually(replaced)
    assert placed != zombie.row.pk
    assert Session.objects.get(pk=zombie.row.pk).reason == "lost"
    assert not queue_client().exists(live.key(zombie.row.pk, "updates"))
    # It comes back to life, and finds out.
    from portal.collection.completing import complete
    from portal.collection.flushing import SessionOver

    with pytest.raises(SessionOver):
        complete(zombie)
    assert not Partial.objects.exists()


def test_a_session_that_no_worker_takes_is_replaced(collecting, settings, monkeypatch):
    from datetime import timedelta

    (session_id,) = collecting.place()
    monkeypatch.setattr(placing, "_claim_time", lambda: timedelta(0))
    (another,) = collecting.place()
    assert Session.objects.get(pk=session_id).reason == "unclaimed"
    assert Session.objects.get(pk=another).state == "opening"


def test_a_worker_that_stops_begins_nothing_and_another_is_asked_at_once(collecting):
    (first,) = collecting.place()
    run_session(session_id=first, worker="one", clock=collecting.clock, is_draining=lambda: True)
    row = Session.objects.get(pk=first)
    assert (row.state, row.reason) == ("dead", "unclaimed")
    (second,) = collecting.place()
    assert collecting.start(second).state == "open"


def test_an_emptied_valkey_loses_nothing_that_was_taken(collecting):
    session = collecting.start(*collecting.place())
    collecting.send(session, [FIRST], MIN)
    collecting.taken(session, MIN)
    queue_client().flushdb()
    # The controller looks before the session has spoken again.
    assert collecting.place() == []
    eventually(lambda: queue_client().exists(live.key(session.pk, "updates")))
    collecting.send(session, [FIRST], MAX - MIN)
    collecting.until(session.pk, "flushed")
    assert len(bytes(Receipts.objects.get().ids)) == 8 * MAX


def test_without_a_worker_nothing_is_placed(collecting):
    assert placing.place_sessions(clock=collecting.clock) == []
    assert outcome("0" * 32) is None


def test_slots_are_for_the_window_that_is_due_first(collecting, settings):
    settings.SESSION_SLOTS = 1
    later = collecting.revision
    collecting.clock.set(later.approved_at)
    sooner = collecting.activate("sooner", grace=24)
    collecting.go_to("2026-11-18T00:00:00")
    from portal import heartbeats

    heartbeats.beat("sessions@one")
    (session_id,) = placing.place_sessions(clock=collecting.clock)
    assert Session.objects.get(pk=session_id).revision == sooner


def test_a_crowded_session_gets_company(collecting):
    session = collecting.start(*collecting.place())
    collecting.send(session, [FIRST], int(0.9 * MAX))
    collecting.taken(session, int(0.9 * MAX))
    (company,) = collecting.place()
    assert company != session.pk
    assert collecting.place() == []


def test_an_approval_that_does_not_verify_opens_nothing(collecting, keys):
    (session_id,) = collecting.place()
    (keys / "approval-key").write_bytes(bytes(32))
    from portal.collection.running import run_session

    run_session(session_id=session_id, worker="one", clock=collecting.clock)
    assert Session.objects.get(pk=session_id).reason == "untrusted"
    assert collecting.place() == []
    assert snapshot(clock=collecting.clock)["tasks"] == []
