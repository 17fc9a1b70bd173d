"""A database from a backup: what may have been spent since counts as spent."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections
from django.test import Client

from aggregation.errors import Problem
from aggregation.partials.keys import KeyName
from portal.accounts.models import ApiToken, Person
from portal.accounts.tokens import create_token, revoke_token
from portal.audit import witness
from portal.audit.models import Entry
from portal.audit.services import record
from portal.audit.verification import verify_log
from portal.collection import jobs
from portal.collection.keys import partial_keys
from portal.collection.models import Partial, Session
from portal.collection.restoring import accept_restore
from portal.ledger.models import Charge, Week
from portal.notifications.models import Notification
from portal.pages import health
from portal.problems import Conflict
from portal.releases import failpoints, running
from portal.releases.jobs import release_due_windows
from portal.releases.models import Release
from portal.tasks import services
from portal.tasks.models import Task, TaskWindow
from tests.portal.collection.collecting import MAX, Collecting, someone
from tests.portal.tasks.conftest import PASSWORD

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


def test_no_key_is_erased_and_nothing_merged_before_it_is_accepted(
    restored: Collecting, monkeypatch: Any
) -> None:
    """The true database, which this one is a stale copy of, may need every key."""
    monkeypatch.setattr(jobs, "civil_clock", lambda: restored.clock)
    kept = partial_keys().names()
    assert [name.level for name in kept] == [1]
    jobs.merge_partials.apply(throw=True)
    assert partial_keys().names() == kept
    restored.clock.set(datetime(2026, 12, 1, tzinfo=UTC))
    jobs.erase_partials.apply(throw=True)
    assert partial_keys().names() == kept
    assert Partial.objects.get().state == "stored"


def test_the_keys_of_windows_that_it_knows_nothing_of_are_erased(restored: Collecting) -> None:
    """Their sums are in the database that was lost; whoever finds its disk could read them."""
    forgotten = KeyName("made-since", FIRST, 1, date(2026, 11, 18))
    partial_keys().for_sealing(forgotten)
    accept_restore(clock=restored.clock)
    assert forgotten not in partial_keys().names()


def test_each_release_is_remembered_before_the_next_is_made(
    collecting: Collecting, put_back: Callable[[], Callable[[], None]], monkeypatch: Any
) -> None:
    """The worker dies at its second one, and the database is lost with it."""
    collecting.go_to("2026-11-21T00:00:00")
    restore = put_back()

    def die(place: str) -> None:
        if place == "due" and Release.objects.exists():
            raise SystemExit

    monkeypatch.setattr(failpoints, "hook", die)
    with pytest.raises(SystemExit):
        running.release_due_windows(clock=collecting.clock)
    restore()
    assert witness.is_behind()


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


def test_a_task_that_was_ended_since_does_not_run_on(
    collecting: Collecting, put_back: Callable[[], Callable[[], None]]
) -> None:
    """The backup knows nothing of its end: what ran with the old approval is over all the same."""
    restore, task = put_back(), collecting.revision.task
    olga = someone("olga", "operator")
    services.end(task=task, reason="Enough.", actor=olga, clock=collecting.clock)
    witness.remember()
    restore()
    assert Task.objects.get().state == "active"
    assert accept_restore(clock=collecting.clock).tasks == 1
    assert Task.objects.get().state == "paused"
    told = Notification.objects.filter(event__kind="task.paused").values_list("event__body")
    assert "has forgotten whether somebody stopped this task" in told[0][0]
    collecting.go_to("2026-11-24T12:00:00")
    assert collecting.place() == []
    begun = TaskWindow.objects.filter(start__lte=collecting.clock.now())
    assert set(begun.values_list("state", flat=True)) == {"skipped"}
    monday = Charge.objects.get(window="2026-11-23")
    assert monday.state == "spent", "a window to come stays charged"
    assert verify_log(whole=True).problem == ""


def test_it_goes_on_with_the_week_after_once_a_second_person_agrees(restored: Collecting) -> None:
    accept_restore(clock=restored.clock)
    assert not witness.is_behind()
    ada, rafael = (Person.objects.get(username=name) for name in ("ada", "rafael"))
    asked = services.resume_request(task=restored.revision.task, actor=ada, clock=restored.clock)
    said = {"seen": asked.content_sha256, "password": PASSWORD, "comment": ""}
    services.approve(revision=asked, actor=rafael, clock=restored.clock, **said)
    later = TaskWindow.objects.filter(start__gte="2026-11-23T00:00:00Z")
    assert set(later.values_list("state", flat=True)) == {"upcoming"}
    restored.go_to("2026-11-26T00:00:00")
    running.release_due_windows(clock=restored.clock)
    assert Release.objects.get().window.window == "2026-11-23"


def test_no_token_works_and_nobody_is_signed_in_any_more(
    collecting: Collecting, put_back: Callable[[], Callable[[], None]]
) -> None:
    """A token that was revoked since would let its program in again."""
    ada, clock, browser = Person.objects.get(username="ada"), collecting.clock, Client()
    made = {"owner": ada, "scopes": ["read"], "lifetime_days": 30, "clock": clock}
    token = create_token(name="leaked", **made).token
    browser.force_login(ada)
    restore = put_back()
    revoke_token(token=token, actor=ada, clock=clock)
    witness.remember()
    restore()
    assert browser.get("/tasks").status_code == 200
    assert accept_restore(clock=clock).tokens == 1
    assert ApiToken.objects.get().state == "revoked"
    assert Entry.objects.filter(action="token.revoked").count() == 1
    assert browser.get("/tasks").status_code == 302
    assert accept_restore(clock=clock).tokens == 0


def test_without_a_witness_it_has_to_be_told_when_the_backup_was_made(
    restored: Collecting, keys: Path
) -> None:
    """The key folder is lost as well. Somebody has signed in since, a week later."""
    (keys / witness.FILE).unlink()
    restored.go_to("2026-11-26T00:00:00")
    record(action="person.changed", subject=restored.revision, clock=restored.clock)
    with pytest.raises(Problem, match=r"Nobody knows what .* --since 2026-11-18T03:00Z"):
        accept_restore(clock=restored.clock)
    assert Task.objects.get().state == "active"
    done = accept_restore(clock=restored.clock, since=datetime(2026, 11, 18, 3, tzinfo=UTC))
    assert done.forgotten_since == datetime(2026, 11, 18, 3, tzinfo=UTC)
    assert {week.left for week in Week.objects.filter(monday=MONDAY)} == {0}
    assert restored.window(FIRST).state == "skipped"


def test_where_the_witness_is_lost_with_the_database_nothing_is_released_again(
    collecting: Collecting, put_back: Callable[[], Callable[[], None]], keys: Path, monkeypatch: Any
) -> None:
    """Both come back from copies; there is none of the witness."""
    session = collecting.start(*collecting.place())
    collecting.send(session, [FIRST], MAX)
    collecting.until(session.pk, "flushed")
    witness.remember()
    restore = put_back()
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    assert Release.objects.exists()
    restore()
    (keys / witness.FILE).unlink()
    monkeypatch.setattr("portal.releases.jobs.civil_clock", lambda: collecting.clock)
    assert release_due_windows.apply().failed()
    assert not Release.objects.exists()
    accept_restore(clock=collecting.clock, since=datetime(2026, 11, 18, tzinfo=UTC))
    assert release_due_windows.apply().successful()
    assert not Release.objects.exists()


def test_a_damaged_witness_says_nothing_and_is_replaced(restored: Collecting, keys: Path) -> None:
    (keys / witness.FILE).write_bytes(b"{")
    with pytest.raises(Problem, match=r"witness\.json .* does not say"):
        accept_restore(clock=restored.clock)
    accept_restore(clock=restored.clock, since=datetime(2026, 11, 18, tzinfo=UTC))
    assert not witness.is_behind()


def test_the_earlier_of_what_is_told_and_what_is_remembered_counts(restored: Collecting) -> None:
    told = datetime(2026, 11, 11, tzinfo=UTC)
    assert accept_restore(clock=restored.clock, since=told).forgotten_since == told
    late = datetime(2026, 11, 19, 23, tzinfo=UTC)
    assert accept_restore(clock=restored.clock, since=late).forgotten_since == late


def test_the_command_says_what_it_did_and_what_is_to_be_looked_at(
    restored: Collecting, monkeypatch: Any, capsys: Any
) -> None:
    command = "portal.collection.management.commands.accept_restore.civil_clock"
    monkeypatch.setattr(command, lambda: restored.clock)
    for wrong in ("yesterday", "2026-11-18T03:00"):
        with pytest.raises(Problem, match="no moment with a time zone"):
            call_command("accept_restore", "--since", wrong)
    with pytest.raises(Problem, match="2027-01-01 00:00 UTC has not come yet"):
        call_command("accept_restore", "--since", "2027-01-01T00:00Z")
    call_command("accept_restore", "--since", "2026-11-18T02:00+02:00")
    told = capsys.readouterr().out
    assert "knows nothing since 2026-11-18 00:00 UTC" in told
    assert "tasks paused: 1; tokens revoked: 0" in told
    assert "who was deactivated since" in told


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
