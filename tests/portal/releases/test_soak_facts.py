"""What a soak is judged by: it sees what is due, what does not add up, and what is left over."""

import io
import json
import sys
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.sessions.models import Session as LoginSession
from django.core.management import call_command

from aggregation.errors import Problem
from aggregation.partials.keys import KeyName
from portal.accounts.models import LoginFailure
from portal.collection.keys import partial_keys
from portal.management.soak_due import due
from portal.management.soak_facts import facts
from portal.management.soak_sizes import sizes
from portal.releases import running
from portal.tasks import services
from portal.valkey import queue_client
from tests.portal.releases.test_releasing import DUE, FIRST

pytestmark = pytest.mark.databases


@pytest.fixture
def released(collecting):
    """The first window is released, and the task has ended."""
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    running.render_releases()
    task = collecting.revision.task
    ada = collecting.revision.author
    services.end(task=task, reason="", actor=ada, clock=collecting.clock)
    return collecting


def test_it_says_what_is_due_and_when_something_is_next(collecting):
    found = due(collecting.clock.now())
    assert (found["waiting"], found["unmade"]) == ([], [])
    assert found["open"] == [("trips-by-region", FIRST)]
    assert found["sessions"] == []
    session = collecting.start(*collecting.place())
    assert due(collecting.clock.now())["sessions"] == [session.pk]
    assert found["next"] == datetime(2026, 11, 19, tzinfo=UTC).timestamp()
    collecting.go_to(DUE)
    assert len(due(collecting.clock.now())["waiting"]) == 1
    running.release_due_windows(clock=collecting.clock)
    found = due(collecting.clock.now())
    assert (found["waiting"], found["unmade"]) == ([], ["files of trips-by-region"])


def test_a_release_adds_up(released):
    found = facts(released.clock.now())
    assert found["released"] == [("trips-by-region", FIRST)]
    assert (found["not_once"], found["signed"]["failed"], found["chain"]["problem"]) == (0, 0, "")
    assert "" not in found["skipped"]
    (week,) = (week for week in found["ledger"] if week["released"])
    assert (week["released"], week["spent"] - week["touched"]) == (10, 10)
    assert week["reserved"] > 0, "windows that have ended go on to their release"
    assert not any(found["left"].values())


def test_it_sees_what_is_left(released):
    now, machine = released.clock.now(), datetime.now(UTC)
    partial_keys().for_sealing(KeyName("trips-by-region", FIRST, 1, now.date()))
    queue_client().rpush("mayfly:session:" + "0" * 32 + ":updates", b"")
    LoginSession.objects.create(session_key="old", session_data="", expire_date=machine)
    LoginFailure.objects.create(name_hash="0", at=machine - timedelta(hours=2))
    left = {what: count for what, count in facts(now)["left"].items() if count}
    assert left == {
        "keys of partials": 1,
        "queues without a session": 1,
        "login sessions": 1,
        "failed sign-ins": 1,
    }


def test_it_knows_how_large_tables_are(released):
    found = sizes()
    assert found["tables"]["releases_release"]["rows"] == 1
    assert found["tables"]["releases_release"]["bytes"] > 0
    assert found["release files"] > 0
    assert found["valkey"] > 0


def test_it_is_for_made_up_phones_alone(released, settings, monkeypatch, capsys):
    settings.CLOCK = "system"
    with pytest.raises(Problem, match="for made-up phones alone"):
        call_command("watch_soak")
    settings.CLOCK = "simulated"
    monkeypatch.setattr("portal.management.commands.watch_soak.civil_clock", lambda: released.clock)
    monkeypatch.setattr(sys, "stdin", io.StringIO("due\nsizes\n"))
    call_command("watch_soak")
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["waiting"] == []
    assert "tables" in second
