"""A task's life, step by step."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import PermissionDenied

from aggregation.errors import Problem
from portal.audit.models import Entry
from portal.audit.verification import verify_log
from portal.ledger.models import Charge, Week
from portal.notifications.models import Notification
from portal.problems import Conflict
from portal.tasks import opening, services
from portal.tasks.life import life_of
from portal.tasks.models import Editor, Revision, Task, TaskWindow
from portal.tasks.signing import is_trusted
from tests.portal.tasks.conftest import spec_text

pytestmark = pytest.mark.databases


def test_it_works(submitted, approve, ada, rafael, clock):
    revision = submitted()
    assert revision.state == Revision.State.IN_REVIEW
    approved = approve(revision, comment="Well thought out.")
    task = Task.objects.get()
    assert (task.state, approved.approver, approved.number) == ("active", rafael, 1)
    assert approved.first_window == datetime(2026, 11, 23, tzinfo=UTC)
    assert is_trusted(Revision.objects.get())
    windows = list(task.windows.values_list("window", "state"))
    assert windows == [(f"2026-{day}", "upcoming") for day in ("11-23", "11-30", "12-07", "12-14")]
    assert list(Week.objects.values_list("reserved", flat=True)) == [100] * 4
    assert verify_log(whole=True).problem == ""


def test_only_windows_that_start_after_activation_are_run(active, clock):
    """At the very boundary, the window that begins now has begun."""
    clock.set(datetime(2026, 11, 16, tzinfo=UTC))
    task = active()
    assert task.windows.order_by("start").first().window == "2026-11-23"


def test_a_draft_is_saved_only_on_top_of_what_was_seen(drafted, ada, person, clock):
    task, bob = drafted(), person("analyst", username="bob")
    saved = services.save_draft(task=task, text="a", base_version=1, actor=bob, clock=clock)
    assert saved.version == 2
    stale = services.save_draft(task=task, text="b", base_version=1, actor=ada, clock=clock)
    assert isinstance(stale, services.Stale)
    assert (stale.text, stale.changed_by, stale.version) == ("a", bob, 2)
    assert set(Editor.objects.values_list("person__username", flat=True)) == {"ada", "bob"}


def test_a_draft_that_is_refused_is_not_submitted(drafted, ada, clock):
    task = drafted()
    bad = spec_text().replace("COUNT(*)", "group_concat(region)")
    services.save_draft(task=task, text=bad, base_version=1, actor=ada, clock=clock)
    with pytest.raises(Problem, match="refused"):
        services.submit(task=task, version=2, actor=ada, clock=clock)
    assert not Revision.objects.exists()


@pytest.mark.parametrize(
    ("fields", "most"),
    [
        ({"unit": "week", "epsilon": "4.01"}, "4"),
        ({"unit": "day", "epsilon": "0.58"}, "0.57"),
        ({"unit": "month", "epsilon": "2.01"}, "2"),
    ],
)
def test_what_no_week_has_room_for_is_not_submitted(drafted, ada, clock, fields, most):
    task = drafted(**fields)
    with pytest.raises(Problem, match=f"Lower ε to at most {most}."):
        services.submit(task=task, version=1, actor=ada, clock=clock)
    assert not Revision.objects.exists()


def test_what_others_leave_no_room_for_is_submitted_all_the_same(active, submitted, approve):
    """They may give it back before anybody approves."""
    active(epsilon=3)
    revision = submitted("other", epsilon=4)
    with pytest.raises(Conflict):
        approve(revision)


def test_a_paused_task_that_is_over_a_lower_cap_does_not_ask_to_run_again(
    active, ada, clock, settings
):
    task = active(epsilon=3)
    services.pause(task=task, reason="", actor=ada, clock=clock)
    settings.WEEKLY_EPSILON = 200
    with pytest.raises(Problem, match="Lower ε to at most 2"):
        services.resume_request(task=task, actor=ada, clock=clock)


def test_a_changed_draft_is_not_submitted_unseen(drafted, ada, clock):
    task = drafted()
    services.save_draft(task=task, text="x", base_version=1, actor=ada, clock=clock)
    with pytest.raises(Conflict, match="version 2"):
        services.submit(task=task, version=1, actor=ada, clock=clock)


def test_nothing_is_approved_while_this_machine_s_clock_is_behind(
    submitted, approve, rafael, clock, monkeypatch
):
    """Its first window could be one that is over: phones take the moment that is signed."""
    revision, behind = submitted(), datetime.now(UTC) - timedelta(days=14)

    class Behind(datetime):
        @classmethod
        def now(cls, tz=None):
            return behind

    monkeypatch.setattr("portal.tasks.deciding.datetime", Behind)
    with pytest.raises(Conflict, match="The clock of this machine is behind, or another"):
        approve(revision)
    monkeypatch.undo()
    assert Revision.objects.get().state == "in_review"
    assert approve(revision).state == "approved"


def test_changes_are_asked_for_and_made(submitted, revise, approve, rafael, clock):
    first = submitted()
    ada, seen = first.author, first.content_sha256
    services.ask_for_changes(
        revision=first, seen=seen, comment="Lower ε, please.", actor=rafael, clock=clock
    )
    assert Notification.objects.filter(recipient=ada, event__kind="revision.changes_requested")
    second = revise(first.task, epsilon="0.5")
    approve(second)
    states = list(Revision.objects.order_by("number").values_list("state", flat=True))
    assert states == ["changes_requested", "approved"]


def test_a_rejected_task_can_be_submitted_again(submitted, revise, rafael, clock):
    first = submitted()
    services.reject(
        revision=first, seen=first.content_sha256, comment="No.", actor=rafael, clock=clock
    )
    assert revise(first.task, clip=10).state == Revision.State.IN_REVIEW


def test_a_decision_against_a_revision_says_why(submitted, rafael, clock):
    first = submitted()
    for decide in (services.reject, services.ask_for_changes):
        with pytest.raises(Problem, match="empty"):
            decide(
                revision=first, seen=first.content_sha256, comment=" ", actor=rafael, clock=clock
            )


def test_a_new_revision_takes_over_at_a_window_s_boundary(active, revise, approve, clock):
    task = active(unit="day", grace=24, epsilon="0.25")
    clock.advance(timedelta(days=2))
    opening.advance_windows(task=task, clock=clock)
    approve(revise(task, unit="day", grace=48, epsilon="0.5"))
    first, second = Revision.objects.order_by("number")
    assert first.until_window == second.first_window == datetime(2026, 11, 19, tzinfo=UTC)
    numbers = dict(task.windows.values_list("window", "revision__number"))
    assert (numbers["2026-11-18"], numbers["2026-11-19"]) == (1, 2)
    due = task.windows.get(window="2026-11-19").due_at
    assert due == datetime(2026, 11, 22, tzinfo=UTC)
    # 17 and 18 November at 0.25, 19 to 22 at 0.5
    week = Week.objects.get(monday="2026-11-16")
    assert (week.reserved, week.spent) == (2 * 25 + 4 * 50, 0)


def test_pausing_skips_what_has_begun_and_keeps_it_charged(active, ada, clock):
    task = active(unit="day", epsilon="0.25")
    clock.advance(timedelta(days=1))
    services.pause(task=task, reason="Odd numbers.", actor=ada, clock=clock)
    touched = task.windows.get(window="2026-11-17")
    assert touched.state == TaskWindow.State.SKIPPED
    assert Charge.objects.get(window="2026-11-17").state == "spent"
    clock.advance(timedelta(days=1))
    opening.advance_windows(task=task, clock=clock)
    assert task.windows.get(window="2026-11-18").state == TaskWindow.State.SKIPPED
    assert Charge.objects.get(window="2026-11-18").state == "spent"


def test_resuming_is_an_activation_that_a_second_person_approves(active, approve, ada, clock):
    task = active(unit="day", epsilon="0.25")
    clock.advance(timedelta(days=1))
    services.pause(task=task, reason="", actor=ada, clock=clock)
    clock.advance(timedelta(days=2))
    revision = services.resume_request(task=task, actor=ada, clock=clock)
    assert Task.objects.get().state == "paused"
    approve(revision)
    assert Task.objects.get().state == "active"
    opening.advance_windows(task=task, clock=clock)
    states = dict(task.windows.values_list("window", "state"))
    assert [states[f"2026-11-{day}"] for day in (17, 18, 19, 20)] == [
        "skipped", "skipped", "skipped", "upcoming",
    ]  # fmt: skip
    assert Week.objects.get(monday="2026-11-16").spent == 75


def test_ending_frees_only_windows_that_have_not_begun(active, ada, clock):
    task = active(unit="day", epsilon="0.25")
    clock.advance(timedelta(days=1))
    services.end(task=task, reason="Done.", actor=ada, clock=clock)
    week = Week.objects.get(monday="2026-11-16")
    assert (week.reserved, week.spent) == (0, 25)
    assert not Week.objects.exclude(pk=week.pk).filter(reserved__gt=0).exists()
    with pytest.raises(Conflict, match="ended"):
        services.save_draft(task=task, text="x", base_version=1, actor=ada, clock=clock)


def test_a_window_that_had_ended_goes_on_to_its_release(active, ada, clock):
    task = active(unit="day", epsilon="0.25")
    clock.set(datetime(2026, 11, 18, 1, tzinfo=UTC))
    services.end(task=task, reason="", actor=ada, clock=clock)
    states = dict(task.windows.values_list("window", "state"))
    assert (states["2026-11-17"], states["2026-11-18"]) == ("grace", "skipped")
    assert Charge.objects.get(window="2026-11-17").state == "reserved"


@pytest.mark.parametrize("stop", [services.pause, services.end])
def test_a_window_that_has_begun_is_skipped_though_the_clock_was_set_back(active, ada, clock, stop):
    """A clock that goes wrong is a reason to stop; once it is right again, the window goes on."""
    task = active(unit="day", epsilon="0.25")
    clock.set(datetime(2026, 11, 18, 1, tzinfo=UTC))
    opening.advance_windows(task=task, clock=clock)
    clock.advance(timedelta(days=-8))
    stop(task=task, reason="", actor=ada, clock=clock)
    states = dict(task.windows.values_list("window", "state"))
    assert (states["2026-11-17"], states["2026-11-18"]) == ("grace", "skipped")
    assert Charge.objects.get(window="2026-11-18").state == "spent"


def test_streams_unit_and_population_stay(active, revise):
    task = active()
    with pytest.raises(Problem, match="window unit"):
        revise(task, unit="day")


def test_what_runs_already_is_not_submitted_again(active, revise):
    with pytest.raises(Problem, match="runs already"):
        revise(active())


def test_withdrawing_takes_a_revision_out_of_review(submitted, ada, person, clock):
    revision = submitted()
    with pytest.raises(PermissionDenied):
        services.withdraw(revision=revision, actor=person("analyst"), clock=clock)
    services.withdraw(revision=revision, actor=ada, clock=clock)
    assert Revision.objects.get().state == Revision.State.WITHDRAWN


def test_duplicating_begins_a_draft_of_one_s_own(active, person, clock):
    bob = person("analyst", username="bob")
    copy = services.duplicate_task(task=active(), name="copy", actor=bob, clock=clock)
    assert copy.draft.text == spec_text("copy")
    assert set(copy.editors.values_list("person__username", flat=True)) == {"ada", "bob"}
    assert [(step.who, step.words) for step in life_of(copy)] == [
        ("bob", "made the task"),
        ("bob", "put into the draft what others have written"),
    ]


@pytest.mark.parametrize("name", [r"a\q", r"\1", r"\g<0>", "new", "a b", ""])
def test_a_copy_needs_a_name_like_any_task(drafted, ada, clock, name):
    with pytest.raises(Problem, match="is no name for a task"):
        services.duplicate_task(task=drafted(), name=name, actor=ada, clock=clock)


def test_everything_is_on_record(active, ada, clock):
    task = active()
    services.pause(task=task, reason="", actor=ada, clock=clock)
    actions = set(Entry.objects.values_list("action", flat=True))
    assert {
        "task.created", "revision.submitted", "revision.approved", "ledger.reserved",
        "task.active", "task.paused",
    } <= actions  # fmt: skip
