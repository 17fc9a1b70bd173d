"""A database from a backup: what may have been spent since counts as spent."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections

from portal.audit import witness
from portal.audit.models import Entry
from portal.audit.services import record
from portal.audit.verification import verify_log
from portal.collection import jobs
from portal.collection.keys import partial_keys
from portal.collection.models import Partial, Session
from portal.collection.restoring import accept_restore
from portal.ledger.models import Charge, Week
from portal.pages import health
from portal.problems import Conflict
from portal.releases import running
from portal.releases.jobs import release_due_windows
from portal.releases.models import Release
from portal.tasks.models import TaskWindow
from tests.portal.collection.collecting import MAX, Collecting, someone

FIRST = "2026-11-17"
DUE = "2026-11-20T00:00:00"
MONDAY = "2026-11-16"


@pytest.fixture
def put_back(parts: Any, tmp_path: Path) -> Callable[[], Callable[[], None]]:
    """Makes a backup, and gives what puts it back."""

    def back_up() -> Callable[[], None]:
        live, kept = str(connection.settings_dict["NAME"]), str(tmp_path / "backup.sqlite3")
        _copy(live, kept)
        return lambda: _copy(kept, live)

    return back_up


def _copy(source: str, target: str) -> None:
    connections.close_all()
    with sqlite3.connect(source) as one, sqlite3.connect(target) as other:
        one.backup(other)


@pytest.fixture
def restored(collecting: Collecting, put_back: Callable[[], Callable[[], None]]) -> Collecting:
    """A window was collected, a backup made, the window released, and the backup put back."""
    session = collecting.start(*collecting.place())
    collecting.send(session, [FIRST], MAX)
    collecting.until(session.pk, "flushed")
    restore = put_back()
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    assert Release.objects.get().window.window == FIRST
    witness.remember()
    restore()
    assert not Release.objects.exists()
    return collecting


def test_nothing_goes_on_before_it_is_accepted(restored: Collecting, monkeypatch: Any) -> None:
    for module in ("collection", "releases"):
        monkeypatch.setattr(f"portal.{module}.jobs.civil_clock", lambda: restored.clock)
    release_due_windows.apply()
    jobs.place_sessions.apply()
    assert not Release.objects.exists()
    assert not Session.objects.filter(state__in=Session.ALIVE).exists()
    audit = next(part for part in health.parts() if part.name == "audit")
    assert not audit.ok
    assert "manage.py accept_restore" in audit.detail
    with pytest.raises(Conflict, match="has forgotten some of what this system has done"):
        restored.activate("another")


def test_a_window_that_may_have_been_released_never_is_again(restored: Collecting) -> None:
    done = accept_restore(clock=restored.clock)
    assert restored.window(FIRST).state == TaskWindow.State.SKIPPED
    assert set(Charge.objects.filter(window=FIRST).values_list("state", flat=True)) == {"spent"}
    running.release_due_windows(clock=restored.clock)
    assert not Release.objects.exists()
    assert (done.windows, done.partials) == (6, 1)
    assert Partial.objects.get().state == "expired"
    assert partial_keys().names() == ()
    assert verify_log(whole=True).problem == ""
    assert Entry.objects.filter(action="restore.accepted").count() == 1


def test_nothing_is_left_of_a_week_that_was_forgotten(restored: Collecting) -> None:
    """A task of which the database knows nothing may have spent it."""
    accept_restore(clock=restored.clock)
    weeks = Week.objects.filter(monday=MONDAY)
    assert {week.stream for week in weeks} == {"assistant", "trips"}
    assert {(week.left, week.reserved) for week in weeks} == {(0, 0)}
    with pytest.raises(Conflict, match="0 of 4 is left"):
        restored.activate("another")


def test_what_happens_before_it_is_accepted_does_not_hide_what_was_forgotten(
    restored: Collecting,
) -> None:
    """Somebody signs in, and it is the next week when somebody looks."""
    restored.go_to("2026-11-24T00:00:00")
    someone("eve", "operator")
    record(action="person.changed", subject=restored.revision, clock=restored.clock)
    done = accept_restore(clock=restored.clock)
    assert done.forgotten_since.date().isoformat() == "2026-11-18"
    assert {week.left for week in Week.objects.filter(monday=MONDAY)} == {0}


def test_it_goes_on_with_the_week_after(restored: Collecting) -> None:
    accept_restore(clock=restored.clock)
    assert not witness.is_behind()
    later = TaskWindow.objects.filter(start__gte="2026-11-23T00:00:00Z")
    assert set(later.values_list("state", flat=True)) == {"upcoming"}
    restored.go_to("2026-11-26T00:00:00")
    running.release_due_windows(clock=restored.clock)
    assert Release.objects.get().window.window == "2026-11-23"


def test_a_window_that_was_not_due_is_released_once(
    collecting: Collecting, put_back: Callable[[], Callable[[], None]]
) -> None:
    """Of the week before: the forgotten time has nothing to do with it."""
    collecting.go_to("2026-11-23T00:00:00")
    restore = put_back()
    witness.remember()
    restore()
    accept_restore(clock=collecting.clock)
    assert collecting.window("2026-11-22").state == "grace"
    collecting.go_to("2026-11-25T00:00:00")
    running.release_due_windows(clock=collecting.clock)
    assert "2026-11-22" in Release.objects.values_list("window__window", flat=True)


def test_a_database_that_only_went_on_is_not_behind(collecting: Collecting) -> None:
    witness.remember()
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    assert not witness.is_behind()
    witness.remember()
    assert not witness.is_behind()
