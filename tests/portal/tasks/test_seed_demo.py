"""The demo's tasks go through the same services as any analyst's and reviewer's."""

import shutil

import pytest
from django.conf import settings
from django.core.management import call_command

from aggregation.errors import Problem
from portal.tasks.models import Comment, Revision, Task, TaskWindow


@pytest.fixture(scope="module")
def real_streams(prepared_data):
    """The demo names a real town, so it needs the real regions."""
    shutil.copytree(prepared_data / "streams", settings.DATA / "streams", dirs_exist_ok=True)


@pytest.fixture(autouse=True)
def demo(db, real_streams):
    call_command("make_demo_people")
    call_command("seed_demo")


def test_two_run_one_waits_one_was_sent_back_one_is_a_draft():
    states = dict(Task.objects.values_list("name", "state"))
    decided = dict(Revision.objects.values_list("task__name", "state"))
    assert {name for name, state in states.items() if state == Task.State.ACTIVE} == {
        "weekly-trips",
        "country-modal-split",
    }
    assert decided["night-cyclists"] == Revision.State.IN_REVIEW
    assert decided["daily-rush-hours"] == Revision.State.CHANGES_REQUESTED
    assert "assistant-quality" not in decided
    assert TaskWindow.objects.filter(task__name="weekly-trips").exists()


def test_the_one_to_review_has_a_weakness_that_the_checks_point_at():
    waiting = Revision.objects.get(task__name="night-cyclists")
    assert "rare_filter" in {w["rule"] for w in waiting.warnings}


def test_the_one_sent_back_says_why_and_where():
    said = Comment.objects.filter(task__name="daily-rush-hours")
    assert said.filter(part="client_sql", line=4).exists()


def test_a_second_time_changes_nothing():
    before = Task.objects.count()
    call_command("seed_demo")
    assert Task.objects.count() == before


def test_it_refuses_outside_the_demo(monkeypatch):
    monkeypatch.setattr(settings, "DEMO", False)
    with pytest.raises(Problem, match="password that everybody knows"):
        call_command("seed_demo")


def test_home_counts_down_to_their_first_release(client):
    client.post("/login", {"username": "analyst", "password": "analyst"})
    text = client.get("/").content.decode()
    due = TaskWindow.objects.order_by("due_at")[0].due_at
    assert "country-modal-split</a>" in text
    assert ", and 1 more" in text
    assert f"due on {due:%a} {due.day} {due:%b %Y}, 00:00 UTC" in text
    now = client.get("/now").content.decode()
    assert now.count("none yet") == 1
    assert "&lt; 1000" in now
