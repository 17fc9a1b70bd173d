"""Each rule that the database keeps, by its name, with an attempt that it alone refuses.

An attempt must fail in the rule's own words: with the rule dropped, it would go through or fail
in others, and this test with it. A rule without an attempt is missed by its name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from portal.accounts.models import Person
from portal.ledger.models import Charge, Week
from portal.tasks import opening, services
from portal.tasks.models import (
    Comment,
    Editor,
    Population,
    Provenance,
    Revision,
    Task,
    TaskWindow,
)
from tests.portal.tasks.bypassing import FIRST, approval_by, copy_of, execute

pytestmark = pytest.mark.databases

Attempts = dict[str, Callable[[], Any]]
# PostgreSQL never replaces a row without being told which; SQLite does with these two words.
REPLACE = {"sqlite": "INSERT OR REPLACE"}


@dataclass(frozen=True)
class World:
    """Tasks at each step of their life, and people."""

    # Runs: one window under way, the others to come.
    running: Task
    # In review, as `waiting`; never approved.
    draft: Task
    waiting: Revision
    # Ended before anybody decided, with a revision that was approved by hand afterwards.
    ended: Task
    # Withdrawn.
    over: Revision
    # Paused: its revision has an end.
    stopped: Revision
    remark: Comment
    nobody: Person
    # A reviewer who has written in the draft.
    both: Person
    rafael: Person


@pytest.fixture
def people(ada, rafael, person) -> tuple[Any, Any, Any, Any]:
    return ada, rafael, person("analyst"), person("analyst", "reviewer")


@pytest.fixture
def world(active, submitted, people, clock) -> World:
    ada, rafael, nobody, both = people
    running, paused = active("running", epsilon="0.5"), active("paused", epsilon="0.5")
    services.pause(task=paused, reason="", actor=ada, clock=clock)
    ended, over, waiting = submitted("ended"), submitted("over"), submitted("waiting")
    services.withdraw(revision=over, actor=ada, clock=clock)
    Task.objects.filter(pk=ended.task_id).update(state="ended")
    Revision.objects.filter(pk=ended.pk).update(**approval_by(rafael))
    Editor.objects.create(task=waiting.task, person=both, since=clock.now())
    Provenance.objects.create(
        mechanism_sha256="ab" * 32, facts={}, noted_by=ada, noted_at=clock.now()
    )
    remark = services.comment(task=running, text="Hm.", actor=ada, clock=clock)
    clock.set(FIRST)
    opening.advance_windows(task=running, clock=clock)
    return World(
        running=running, draft=waiting.task, waiting=waiting, ended=ended.task, over=over,
        stopped=paused.revisions.get(), remark=remark, nobody=nobody, both=both,
        rafael=rafael,
    )  # fmt: skip


def _tasks(world: World) -> Attempts:
    row, draft = Task.objects.filter(pk=world.running.pk), Task.objects.filter(pk=world.draft.pk)
    ended = Task.objects.filter(pk=world.ended.pk)
    one = {"model": Task, "pk": world.draft.pk}
    return {
        "a_task_begins_as_a_draft": lambda: execute(copy_of(**one, name="'new'", state="'paused'")),
        "a_task_is_never_replaced": lambda: execute(copy_of(**one, verb=_replace())),
        "a_task_keeps_its_name_and_its_maker": lambda: row.update(created_by=world.nobody),
        "an_active_task_has_an_approved_revision_that_runs_on": lambda: draft.update(
            state="active"
        ),
        "an_ended_task_stays_ended": lambda: ended.update(state="active"),
        "a_task_that_ran_is_no_draft_again": lambda: row.update(state="draft"),
        "only_a_task_that_runs_is_paused": lambda: draft.update(state="paused"),
        "a_task_is_never_removed": lambda: execute("DELETE FROM tasks_task"),
        **_kept("tasks_editor", Editor, "since"),
        **_kept("tasks_provenance", Provenance, "noted_at"),
    }


def _revisions(world: World) -> Attempts:
    waiting = Revision.objects.filter(pk=world.waiting.pk)
    approved = Revision.objects.filter(task=world.running)
    over = Revision.objects.filter(pk=world.over.pk)
    stopped = Revision.objects.filter(pk=world.stopped.pk)
    one = {"model": Revision, "pk": world.waiting.pk}
    author = str(world.rafael.pk)
    return {
        "a_revision_begins_in_review": lambda: execute(
            copy_of(**one, number="9", state="'withdrawn'")
        ),
        "a_revision_is_never_replaced": lambda: execute(copy_of(**one, verb=_replace())),
        "the_author_of_a_revision_is_an_editor": lambda: execute(
            copy_of(**one, number="9", author_id=author)
        ),
        "a_submitted_revision_never_changes": lambda: waiting.update(epsilon=1),
        "a_decided_revision_stays_decided": lambda: over.update(state="in_review"),
        "an_approval_is_written_once": lambda: approved.update(signature="cd" * 64),
        "an_editor_does_not_approve": lambda: waiting.update(**approval_by(world.both)),
        "only_a_reviewer_approves": lambda: waiting.update(**approval_by(world.nobody)),
        "the_end_of_a_revision_only_moves_earlier": lambda: stopped.update(until_window=None),
        "a_revision_is_never_removed": lambda: execute("DELETE FROM tasks_revision"),
        "a_comment_never_changes": lambda: Comment.objects.update(text="Yes."),
        "a_comment_is_never_removed": lambda: execute("DELETE FROM tasks_comment"),
    }


def _windows(world: World) -> Attempts:
    begun = TaskWindow.objects.filter(task=world.running, state="collecting")
    later = TaskWindow.objects.filter(task=world.running, state="upcoming")
    one, begun_pk = {"model": TaskWindow, "pk": later[0].pk}, begun[0].pk
    other = {"start": "'2026-11-16 00:00:00+00:00'"}

    def collect_while_paused() -> None:
        Task.objects.filter(pk=world.running.pk).update(state="paused")
        later.update(state="collecting")

    def release_nothing() -> None:
        for state in ("grace", "releasing", "released"):
            TaskWindow.objects.filter(pk=begun_pk).update(state=state)

    def skip_late() -> None:
        for state in ("grace", "skipped"):
            TaskWindow.objects.filter(pk=begun_pk).update(state=state)

    return {
        "a_window_is_skipped_late_only_once_it_is_spent": skip_late,
        "a_window_begins_as_upcoming_or_skipped": lambda: execute(
            copy_of(**one, **other, state="'grace'")
        ),
        "a_window_is_never_replaced": lambda: execute(copy_of(**one, verb=_replace())),
        "a_window_has_an_approved_revision_and_is_charged": lambda: execute(
            copy_of(**one, **other)
        ),
        "a_window_keeps_its_place": lambda: later.update(unit="day"),
        "a_window_that_has_begun_keeps_its_revision": lambda: begun.update(
            due_at=FIRST + timedelta(99)
        ),
        "a_window_goes_from_state_to_state_in_order": lambda: later.update(state="grace"),
        "a_window_is_collected_by_an_active_task_with_approval_and_charge": collect_while_paused,
        "a_window_is_released_with_its_release_and_its_cost_is_spent": release_nothing,
        "a_window_is_never_removed": lambda: execute("DELETE FROM tasks_taskwindow"),
        "a_window_that_has_begun_stays_charged": lambda: Charge.objects.filter(
            task="running", window=begun[0].window
        ).update(state="freed"),
    }


def _ledger(world: World) -> Attempts:
    held = Charge.objects.filter(task="running", state="reserved")
    one, week = {"model": Charge, "pk": held[0].pk}, {"model": Week, "pk": Week.objects.first().pk}

    def unsettle() -> None:
        settled = Charge.objects.filter(pk=held[0].pk)
        settled.update(state="spent")
        settled.update(state="reserved")

    return {
        "a_charge_begins_as_reserved": lambda: execute(
            copy_of(**one, window="'new'", state="'spent'")
        ),
        "a_charge_is_never_replaced": lambda: execute(
            copy_of(**one, verb=_replace(), id="id", window="'new'")
        ),
        "a_charge_never_changes_its_amount_or_place": lambda: held.update(amount=1),
        "a_spent_or_freed_charge_stays_so": unsettle,
        "a_charge_is_never_removed": lambda: execute("DELETE FROM ledger_charge"),
        "a_week_begins_empty": lambda: execute(
            copy_of(**week, stream="'new'", reserved="1", spent="0")
        ),
        "a_week_keeps_its_place": lambda: Week.objects.update(stream="other"),
        "a_week_holds_the_sums_of_its_charges": lambda: Week.objects.update(spent=3),
        "a_closed_week_stays_closed": _open_a_closed_week,
        "a_week_is_never_removed": lambda: execute("DELETE FROM ledger_week"),
    }


def _open_a_closed_week() -> None:
    Week.objects.update(closed_at=FIRST)
    Week.objects.update(closed_at=None)


def _populations(world: World) -> Attempts:
    one = {"model": Population, "pk": Population.objects.get().pk}
    return {
        "a_population_keeps_its_name": lambda: Population.objects.update(name="some"),
        "a_population_is_never_replaced": lambda: execute(copy_of(**one, verb=_replace())),
        "a_population_is_never_removed": lambda: execute("DELETE FROM tasks_population"),
    }


def _kept(table: str, model: Any, moment: str) -> Attempts:
    """An append-only table's rules, which differ in name between the databases."""
    change = {
        "update": f"UPDATE {table} SET {moment} = '2020-01-01'",
        "delete": f"DELETE FROM {table}",
    }
    if connection.vendor == "postgresql":
        return {f"{table}_no_change": lambda: execute(change["update"])}
    again = copy_of(model, pk=model.objects.first().pk, verb=_replace(), id="id")
    change["insert"] = again
    return {f"{table}_no_{event}": lambda sql=sql: execute(sql) for event, sql in change.items()}


def _emptied(names: set[str]) -> Attempts:
    tables = [name.removesuffix("_no_truncate") for name in names if name.endswith("_no_truncate")]
    return {
        f"{table}_no_truncate": lambda table=table: execute(f"TRUNCATE {table} CASCADE")
        for table in tables
    }


def _replace() -> str:
    return REPLACE.get(connection.vendor, "INSERT")


def rules() -> set[str]:
    """The names of all triggers on the tables of tasks and of the ledger."""
    queries = {
        "sqlite": "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT t.tgname, c.relname FROM pg_trigger t "
        "JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal",
    }
    with connection.cursor() as cursor:
        cursor.execute(queries[connection.vendor])
        found = cursor.fetchall()
    return {name for name, table in found if table.startswith(("tasks_", "ledger_"))}


SUMS = {"ledger_sums_after_insert", "ledger_sums_after_update"}


def test_every_rule_refuses_what_it_is_for_in_its_own_words(world):
    if connection.vendor == "postgresql":
        execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with events to come is not emptied
    names = rules()
    attempts = {
        **_tasks(world), **_revisions(world), **_windows(world), **_ledger(world),
        **_populations(world), **_emptied(names),
    }  # fmt: skip
    cut = 63  # PostgreSQL's names are no longer
    assert {name[:cut] for name in attempts} == {name[:cut] for name in names - SUMS}
    answers = {name: _answer(attempt) for name, attempt in attempts.items()}
    assert {name: said for name, said in answers.items() if _words(name) not in said} == {}


def _answer(attempt: Callable[[], Any]) -> str:
    try:
        with transaction.atomic():
            attempt()
            raise Unrefused
    except (DatabaseError, Unrefused) as error:
        return str(error)


class Unrefused(Exception):
    """Takes back what went through."""

    def __str__(self) -> str:
        return "It was not refused."


def _words(name: str) -> str:
    table, no, event = name.partition("_no_")
    if no and table in ("tasks_editor", "tasks_provenance"):
        return f"{table} is append-only"
    if event == "truncate":
        return f"{table} cannot be empt"
    return name.replace("_", " ").capitalize() + "."


def test_the_sums_of_a_week_follow_every_charge(world):
    """Whoever writes: with a charge added, and with one that is freed."""
    week = Week.objects.get(monday=FIRST.date())
    before = week.reserved
    charge = Charge.objects.create(week=week, task="sly", window="new", amount=7)
    week.refresh_from_db()
    assert week.reserved == before + 7
    Charge.objects.filter(pk=charge.pk).update(state="spent")
    week.refresh_from_db()
    assert (week.reserved, week.spent) == (before, 7)
