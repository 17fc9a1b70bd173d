"""Sessions that wait: for the database, or for a connection to it. None of them is dead."""

import threading
import time

import pytest
from django.db import OperationalError, connection

from portal.collection import beating as beating_module
from portal.collection import completing, live, placing
from portal.collection import run as run_module
from portal.collection.live import key
from portal.collection.models import Session
from portal.collection.run import Run
from portal.collection.running import look_around
from portal.valkey import queue_client
from tests.parts import eventually
from tests.portal.collection.collecting import MIN

pytestmark = pytest.mark.databases

FIRST = "2026-11-17"


def test_who_waits_for_the_database_is_not_taken_for_dead(collecting, settings):
    run = collecting.by_hand([FIRST], MIN)
    cursor, name = connection.cursor(), key(run.row.pk, "alive")
    cursor.execute("ALTER TABLE collection_hold RENAME TO away")

    def lives_on() -> bool:
        """After a look around, with nothing left of what it said before."""
        queue_client().delete(name)
        assert not look_around(run)
        return live.alive([run.row.pk]) == {run.row.pk}

    assert lives_on()
    assert lives_on()
    settings.SESSION_LAPSE_SECONDS = 0.001
    assert not lives_on()
    connection.cursor().execute("ALTER TABLE away RENAME TO collection_hold")
    settings.SESSION_LAPSE_SECONDS = 2
    assert lives_on()
    assert run.waits_since is None


def test_the_log_says_once_a_minute_what_a_session_waits_for(collecting, caplog, monkeypatch):
    run = collecting.by_hand([FIRST], MIN)
    connection.cursor().execute("ALTER TABLE collection_hold RENAME TO away")
    for _ in range(3):
        assert not look_around(run)
    assert caplog.text.count(f"Session {run.row.pk} waits for a part") == 1
    monkeypatch.setattr(run_module, "COMPLAIN_SECONDS", 0.0)
    assert not look_around(run)
    assert caplog.text.count(f"Session {run.row.pk} waits for a part") == 2
    connection.cursor().execute("ALTER TABLE away RENAME TO collection_hold")


def test_a_window_that_is_over_takes_no_more_while_the_database_is_away(collecting):
    run = collecting.by_hand([FIRST], MIN)
    connection.cursor().execute("ALTER TABLE collection_hold RENAME TO away")
    assert not look_around(run)
    assert [one.id for one in run.summing.windows_open] == [FIRST]
    collecting.go_to("2026-11-20T00:00:01")
    assert not look_around(run)
    assert not run.summing.windows_open
    connection.cursor().execute("ALTER TABLE away RENAME TO collection_hold")


def test_a_session_says_that_it_is_alive_while_it_waits_for_a_connection(
    collecting, settings, monkeypatch
):
    """Be it about to look around or to end; though not for ever."""
    run = collecting.by_hand([FIRST], MIN)
    settings.SESSION_LAPSE_SECONDS = 0.3
    waited = []

    def wait_until_it_is_said_again(*_) -> bool:
        queue_client().delete(key(run.row.pk, "alive"))
        eventually(lambda: live.alive([run.row.pk]))
        waited.append(True)
        return True

    monkeypatch.setattr(Run, "receive", wait_until_it_is_said_again)
    assert not look_around(run)
    monkeypatch.setattr(completing, "find_takers", wait_until_it_is_said_again)
    assert completing._await_takers(run, list)
    completing._settle(run, Session.State.COMPLETING, wait_until_it_is_said_again)
    completing._until(run, wait_until_it_is_said_again)
    assert len(waited) == 4
    run.waits_since = time.monotonic() - 1000
    with completing._beating(run):
        queue_client().delete(key(run.row.pk, "alive"))
        over = [one for one in threading.enumerate() if one.name == "beating"]
        eventually(lambda: not any(one.is_alive() for one in over))
    assert not live.alive([run.row.pk])


def test_a_session_that_ends_waits_for_the_database_no_longer_than_others(collecting, monkeypatch):
    """One that is cut off from it alone would keep its windows from being released for ever."""
    run = collecting.by_hand([FIRST], MIN)
    cursor, name = connection.cursor(), key(run.row.pk, "alive")
    cursor.execute("ALTER TABLE collection_session RENAME TO away")

    def lives_on() -> bool:
        """After a pause between two attempts."""
        queue_client().delete(name)
        completing._pause(run)
        return live.alive([run.row.pk]) == {run.row.pk}

    assert lives_on()
    monkeypatch.setattr(beating_module, "PATIENCE", 0)
    assert not lives_on()
    connection.cursor().execute("ALTER TABLE away RENAME TO collection_session")
    monkeypatch.setattr(beating_module, "PATIENCE", 4)
    assert lives_on()
    assert run.waits_since is None


def test_a_wait_that_has_ended_takes_no_patience_from_the_next_step(collecting, monkeypatch):
    run = collecting.by_hand([FIRST], MIN)
    steps = [
        lambda: completing._await_takers(run, list),
        lambda: completing._settle(run, Session.State.COMPLETING, lambda: None),
        lambda: completing._until(run, lambda: True),
    ]
    monkeypatch.setattr(completing, "find_takers", lambda *_: ())
    for step in steps:
        run.waits_since = time.monotonic() - 1000
        step()
        assert run.waits_since is None
    # A commit whose answer was lost.
    run.waits_since, run.row.state = time.monotonic() - 1000, Session.State.OPEN

    def lose_the_answer() -> None:
        Session.objects.filter(pk=run.row.pk).update(state=Session.State.COMPLETING)
        raise OperationalError

    completing._settle(run, Session.State.COMPLETING, lose_the_answer)
    assert (run.row.state, run.waits_since) == (Session.State.COMPLETING, None)
    # What needs no database is done while that is away, and the wait goes on.
    connection.cursor().execute("ALTER TABLE collection_session RENAME TO away")
    run.waits_since = began = time.monotonic() - 1000
    completing._until(run, lambda: True)
    assert run.waits_since == began
    connection.cursor().execute("ALTER TABLE away RENAME TO collection_session")


def silent_while_nobody_looked(collecting):
    """A session of which nothing is heard, a minute after the controller's last look."""
    run = collecting.by_hand([FIRST], MIN)
    queue_client().delete(key(run.row.pk, "alive"))
    looked = time.time() - 60
    queue_client().set(placing.LOOKED, repr(looked))
    queue_client().set(key(run.row.pk, "missing"), repr(looked))
    return run


def test_slow_beats_keep_nobody_from_being_buried(collecting, settings):
    settings.HEARTBEAT_SECONDS = 60
    run = silent_while_nobody_looked(collecting)
    placing.bury_lapsed(clock=collecting.clock)
    assert Session.objects.get(pk=run.row.pk).state == "dead"


def test_nobody_is_buried_at_once_when_nobody_could_look_for_a_while(collecting):
    """A session finds the database again later than the controller does."""
    run = silent_while_nobody_looked(collecting)
    placing.bury_lapsed(clock=collecting.clock)
    assert Session.objects.get(pk=run.row.pk).state == "open"
    queue_client().delete(placing.LENIENT)
    placing.bury_lapsed(clock=collecting.clock)
    assert Session.objects.get(pk=run.row.pk).state == "dead"
