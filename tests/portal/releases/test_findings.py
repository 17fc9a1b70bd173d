"""What the operators' overview finds of collecting and releasing, by bringing it about."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from portal.audit.models import Entry
from portal.collection import live, placing
from portal.collection.models import Partial, Session
from portal.pages import readiness
from portal.pages.overview import of_parts, of_work
from portal.pages.overview.finding import Seen
from portal.releases import failpoints, running
from portal.releases.models import Release
from tests.portal.collection.collecting import MAX
from tests.portal.releases.test_releasing import DUE, FIRST, fail_at, pauses_are_over

LATER = "2026-11-20T00:30:00"


def seen(collecting, *, later: timedelta = timedelta(0)) -> Seen:
    return Seen(datetime.now(UTC) + later, collecting.clock)


def kinds(source, looked: Seen) -> list[str]:
    return [one.kind for one in source(looked)]


def test_a_release_is_late_and_then_is_not(collecting):
    assert kinds(of_work.late_releases, seen(collecting)) == []
    collecting.go_to(LATER)
    (one,) = of_work.late_releases(seen(collecting))
    assert (one.kind, one.weight) == ("release-late", "warning")
    assert timedelta(minutes=29) < datetime.now(UTC) - one.since < timedelta(minutes=31)
    running.release_due_windows(clock=collecting.clock)
    assert kinds(of_work.late_releases, seen(collecting)) == []


def test_a_release_that_keeps_failing(collecting, monkeypatch):
    collecting.go_to(DUE)
    monkeypatch.setattr(failpoints, "hook", fail_at("noised"))
    for _ in range(3):
        running.release_due_windows(clock=collecting.clock)
        pauses_are_over()
    (one,) = of_work.late_releases(seen(collecting))
    assert one.kind == "release-failing"
    assert "It has been tried 3 times" in one.meaning
    assert FIRST in one.command


def test_a_release_that_is_held_back(collecting, keys):
    collecting.go_to(DUE)
    (keys / "approval-key").write_bytes(bytes(32))
    running.release_due_windows(clock=collecting.clock)
    assert kinds(of_work.late_releases, seen(collecting)) == ["release-held-back"]


def test_a_release_is_held_back_no_longer_once_the_right_key_is_there(collecting, keys):
    """People have heard of it once; that says since when, and not whether it is still so."""
    collecting.go_to(LATER)
    right = (keys / "approval-key").read_bytes()
    (keys / "approval-key").write_bytes(bytes(32))
    running.release_due_windows(clock=collecting.clock)
    (held,) = of_work.late_releases(seen(collecting))
    assert held.since == Entry.objects.get(action="taskwindow.held_back").at
    (keys / "approval-key").write_bytes(right)
    assert kinds(of_work.late_releases, seen(collecting)) == ["release-late"]


def test_looking_for_releases_that_are_held_back_makes_no_keys(collecting, keys):
    collecting.go_to(LATER)
    for name in ("approval-key", "people-key"):
        (keys / name).unlink()
        assert kinds(of_work.late_releases, seen(collecting)) == ["release-late"]
        assert not (keys / name).exists()


def test_a_release_without_files(collecting):
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    assert Release.objects.exists()
    later = timedelta(minutes=6)
    assert kinds(of_work.releases_without_files, seen(collecting)) == []
    assert kinds(of_work.releases_without_files, seen(collecting, later=later)) == ["files-missing"]
    running.render_releases()
    assert kinds(of_work.releases_without_files, seen(collecting, later=later)) == []


def test_partials_that_expire_unmerged(collecting):
    session = collecting.start(*collecting.place())
    collecting.count(collecting.send(session, [FIRST], MAX))
    collecting.until(session.pk, "flushed")
    assert kinds(of_work.expiring_partials, seen(collecting)) == []
    collecting.clock.set(Partial.objects.get().expires_at - timedelta(hours=3))
    (one,) = of_work.expiring_partials(seen(collecting))
    assert one.weight == "bad"
    assert "3 h" in one.title


def test_a_session_that_died(collecting):
    (pk,) = collecting.place()
    assert kinds(of_work.lost_sessions, seen(collecting)) == []
    assert placing.bury(Session.objects.get(pk=pk), Session.Reason.LOST, clock=collecting.clock)
    (lost,) = of_work.lost_sessions(seen(collecting))
    assert lost.title == "1 session died within the last day"


def test_a_queue_that_is_nearly_full(collecting, settings):
    """Counts are coarse: a queue that may be told of is longer than a thousand."""
    (pk,) = collecting.place()
    settings.QUEUE_LENGTH = 2000
    live.open_queue(pk)
    live.queue_client().rpush(live.key(pk, "updates"), *[b"x"] * 1700)
    live.beat(pk, _status())
    assert kinds(of_work.full_queues, seen(collecting)) == ["queue-full"]
    live.forget(pk)
    assert kinds(of_work.full_queues, seen(collecting)) == []


def _status() -> dict[str, object]:
    return {"contributions": 0, "queue": 0, "counts": {}, "load": 0.0, "most": MAX}


@pytest.mark.django_db
def test_a_database_that_is_older_than_the_program(monkeypatch, clock):
    monkeypatch.setitem(readiness._seen, "complete", False)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'lab'")
    (one,) = of_parts.missing_migrations(Seen(datetime.now(UTC), clock))
    assert one.command == "python manage.py prepare"
    assert "lab 0001" in one.meaning
