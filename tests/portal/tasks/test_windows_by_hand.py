"""Tasks and windows moved by hand past what was approved and charged, refused on both databases."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F

from portal.ledger.models import Charge
from portal.tasks import opening, services
from portal.tasks.models import Revision, Task, TaskWindow
from tests.portal.tasks.bypassing import FIRST, refused_by_the_database

pytestmark = pytest.mark.databases


def test_a_draft_is_not_set_active(drafted):
    rows = Task.objects.filter(pk=drafted().pk)
    refused_by_the_database(lambda: rows.update(state="active"))
    refused_by_the_database(lambda: rows.update(state="paused"))


def test_a_paused_task_is_not_set_active(active, ada, clock):
    task = active()
    services.pause(task=task, reason="", actor=ada, clock=clock)
    rows = Task.objects.filter(pk=task.pk)
    refused_by_the_database(lambda: rows.update(state="active"))
    approved = Revision.objects.filter(task=task)
    refused_by_the_database(lambda: approved.update(until_window=None))
    refused_by_the_database(lambda: approved.update(until_window=F("until_window") + timedelta(7)))


def test_an_ended_task_is_not_set_active(active, ada, clock):
    task = active()
    services.end(task=task, reason="", actor=ada, clock=clock)
    rows = Task.objects.filter(pk=task.pk)
    for state in ("active", "paused", "draft"):
        refused_by_the_database(lambda state=state: rows.update(state=state))


def test_a_window_needs_an_approved_revision_and_a_charge(submitted, active, clock):
    waiting, task = submitted("other"), active()
    running_now = task.revisions.get()
    for revision, start in (
        (waiting, FIRST),  # not approved
        (running_now, datetime(2026, 11, 16, tzinfo=UTC)),  # before its first window
        (running_now, datetime(2027, 3, 1, tzinfo=UTC)),  # not charged
    ):
        row = TaskWindow(
            task=revision.task, revision=revision, window=start.date().isoformat(), unit="week",
            start=start, end=start + timedelta(7), due_at=start + timedelta(8),
        )  # fmt: skip
        refused_by_the_database(lambda row=row: TaskWindow.objects.bulk_create([row]))


def test_a_window_that_has_begun_keeps_its_revision_and_charge(active, revise, approve, clock):
    task = active()
    clock.set(FIRST)
    opening.advance_windows(task=task, clock=clock)
    second = approve(revise(task, clip=30))
    begun = TaskWindow.objects.filter(task=task, window="2026-11-23")
    assert begun.get().state == "collecting"
    refused_by_the_database(lambda: begun.update(revision=second))
    refused_by_the_database(lambda: begun.update(state="upcoming"))
    charge = Charge.objects.filter(window="2026-11-23")
    refused_by_the_database(lambda: charge.update(state="freed"))


def test_a_window_whose_cost_was_given_back_is_not_opened(active, clock):
    active()
    Charge.objects.filter(window="2026-11-23").update(state="freed")
    window = TaskWindow.objects.filter(window="2026-11-23")
    refused_by_the_database(lambda: window.update(state="collecting"))


@pytest.mark.parametrize(
    "fields",
    [
        {"state": "grace"},
        {"state": "releasing"},
        {"state": "released"},
        {"window": "2026-11-16"},
        {"start": datetime(2026, 11, 16, tzinfo=UTC)},
        {"end": datetime(2026, 12, 30, tzinfo=UTC), "due_at": datetime(2026, 12, 31, tzinfo=UTC)},
        {"unit": "day"},
    ],
)
def test_a_window_keeps_its_place_and_its_order(active, fields):
    active()
    rows = TaskWindow.objects.filter(window="2026-11-23")
    refused_by_the_database(lambda: rows.update(**fields))


@pytest.mark.parametrize("state", ["collecting", "grace", "releasing", "released"])
def test_a_window_is_not_born_half_way(active, state):
    row = active().windows.get(window="2026-11-23")
    row.pk, row.state, row.start = None, state, datetime(2026, 11, 16, tzinfo=UTC)
    refused_by_the_database(lambda: TaskWindow.objects.bulk_create([row]))


@pytest.mark.parametrize("state", ["upcoming", "collecting"])
def test_a_skipped_window_stays_skipped(active, ada, clock, state):
    task = active()
    services.end(task=task, reason="", actor=ada, clock=clock)
    rows = TaskWindow.objects.filter(task=task)
    refused_by_the_database(lambda: rows.update(state=state))


def test_a_paused_task_collects_nothing(active, ada, clock):
    task = active()
    services.pause(task=task, reason="", actor=ada, clock=clock)
    rows = TaskWindow.objects.filter(task=task)
    refused_by_the_database(lambda: rows.update(state="collecting"))


def test_a_task_is_born_a_draft_and_never_one_again(active, ada, clock):
    rows = Task.objects.filter(pk=active().pk)
    refused_by_the_database(lambda: rows.update(state="draft"))
    for state in ("active", "paused", "ended"):
        born = Task(name=f"born-{state}", created_by=ada, created_at=clock.now(), state=state)
        refused_by_the_database(born.save)
