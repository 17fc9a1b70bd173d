"""A study's own process: it ends when it is done, cancelled, or alone."""

import os
import subprocess
import threading

import pytest
from django.db import connection

from portal.accounts.models import Grant, Person
from portal.lab import child, services, working
from portal.lab.models import Study
from tests.parts import eventually


@pytest.fixture
def begun(own_database, tmp_path, monkeypatch, clock):
    """A study that a worker has begun, in a database that a process of its own can open."""
    (tmp_path / "mayfly.sqlite3").symlink_to(tmp_path / "own.sqlite3")
    monkeypatch.setenv("MAYFLY_DATA", str(tmp_path))
    ada = Person.objects.create_user("ada", password="correct horse battery")
    Grant.objects.create(person=ada, role="analyst")

    def begin(phones):
        asked = {"phones": phones, "seed": 1}
        study = services.ask_for_study(kind="reach", parameters=asked, actor=ada, clock=clock)
        assert services.begin_study(study=study, clock=clock)
        return study

    return begin


def state(study):
    connection.close()
    return Study.objects.get(pk=study.pk).state


def test_it_stops_within_seconds_when_it_is_cancelled(begun, own_database, clock):
    study = begun(2_000_000)

    def run():
        with own_database():
            child.run_in_child(study=study, clock=clock, is_draining=lambda: False)

    thread = threading.Thread(target=run)
    thread.start()
    eventually(lambda: Study.objects.get(pk=study.pk).progress > 0)
    other = Study.objects.get(pk=study.pk)
    services.cancel_study(study=other, actor=other.asked_by, clock=clock)
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert state(study) == Study.State.CANCELLED


def test_what_it_started_itself_ends_with_it():
    started = subprocess.Popen(["sh", "-c", "sleep 600 & wait"], start_new_session=True)
    child._end(started)
    eventually(lambda: not _lives(started.pid))


def _lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_it_waits_again_when_its_worker_is_told_to_stop(begun, clock):
    study = begun(2_000_000)
    child.run_in_child(study=study, clock=clock, is_draining=lambda: True)
    assert state(study) == Study.State.WAITING


def test_a_process_that_dies_is_noticed_at_once(begun, monkeypatch, clock):
    study = begun(20_000)
    monkeypatch.setenv("MAYFLY_NO_SUCH_KNOB", "stops every command at its start")
    child.run_in_child(study=study, clock=clock, is_draining=lambda: False)
    study.refresh_from_db()
    assert study.error == "Its process ended without a word (exit code 2)."


def test_the_heartbeat_runs_what_waits(begun, clock):
    study = begun(20_000)
    services.put_back(study=study, clock=clock)
    working.run_next_study(clock=clock, draining=lambda: False)
    assert state(study) == Study.State.DONE
