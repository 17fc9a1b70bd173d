"""Stopping tasks. One person is enough: stopping can only make less known.

A window that has begun when its task is paused or ended is skipped, and stays charged: devices
may have been asked already. Windows that had ended before go on to their release. A paused task
keeps its later windows charged, and those that begin meanwhile are skipped as well; so pausing
and resuming gains nothing that was not paid for. Ending frees the windows that have not begun.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from aggregation.clock import Clock
from aggregation.protocol.windows import Unit, Window
from portal.accounts.models import Person
from portal.audit.services import Actor, move
from portal.ledger.services import settle
from portal.problems import Conflict
from portal.tasks import telling
from portal.tasks.activating import stop_running
from portal.tasks.locking import locked, locked_alive
from portal.tasks.models import Revision, Task, TaskWindow
from portal.tasks.opening import advance_windows
from portal.tasks.planning import runs_once
from portal.tasks.rights import STOPPERS, require_role
from portal.tasks.selectors import last_approved, revision_in_review, running_revision
from portal.tasks.signing import is_trusted

_State = TaskWindow.State


def pause(*, task: Task, reason: str, actor: Person, clock: Clock) -> Task:
    """Stop collecting now. Going on takes a new activation, which a second person approves."""
    require_role(actor, *STOPPERS)
    advance_windows(task=task, clock=clock)
    return pause_now(task=task, reason=reason, actor=actor, clock=clock)


@transaction.atomic
def pause_now(*, task: Task, reason: str, actor: Person | None, clock: Clock) -> Task:
    task, now = locked_alive(task), clock.now()
    if task.state != Task.State.ACTIVE:
        raise Conflict(
            f"The task {task.name} is {task.get_state_display().lower()}, not active.",
            hint="Only an active task can be paused.",
        )
    _stop(task, now)
    touched = _touched(task, now)
    windows = [row.as_window() for row in touched]
    settle(task=task.name, spent=windows, freed=(), clock=clock, actor=actor)
    skip(touched, "The task was paused during this window.", actor=actor, clock=clock)
    move(task, to=Task.State.PAUSED, actor=actor, clock=clock)
    telling.stopped(task, reason, actor=actor, clock=clock)
    return task


def pause_if_untrusted(*, task: Task, clock: Clock) -> bool:
    """A running revision that the key does not vouch for was written around the rules."""
    running = running_revision(task)
    if running is None or is_trusted(running):
        return False
    reason = f"The approval of revision {running.number} does not verify. Tell an operator."
    pause_now(task=task, reason=reason, actor=None, clock=clock)
    return True


def end(*, task: Task, reason: str, actor: Person, clock: Clock) -> Task:
    """Stop for good, and give back what windows would have cost that have not begun."""
    require_role(actor, *STOPPERS)
    advance_windows(task=task, clock=clock)
    return _end_now(task=task, reason=reason, actor=actor, clock=clock)


def end_if_over(*, task: Task, clock: Clock) -> bool:
    """A calibration has run its one window, so nothing is left to do. One that waits for a second
    person may still bring another window."""
    if not _is_over(task):
        return False
    with transaction.atomic():
        task = locked(task)
        if over := task.state == Task.State.ACTIVE and _is_over(task):
            _end_now(task=task, reason="Its one window is over.", actor=None, clock=clock)
    return over


def _is_over(task: Task) -> bool:
    approved = last_approved(task)
    if approved is None or not runs_once(approved) or revision_in_review(task):
        return False
    return not task.windows.exclude(state__in=[_State.RELEASED, _State.SKIPPED]).exists()


@transaction.atomic
def _end_now(*, task: Task, reason: str, actor: Person | None, clock: Clock) -> Task:
    task, now = locked_alive(task), clock.now()
    _stop(task, now)
    touched = _touched(task, now)
    later = list(task.windows.filter(state=_State.UPCOMING, start__gt=now))
    settle(
        task=task.name,
        spent=[row.as_window() for row in touched],
        freed=[row.as_window() for row in later],
        clock=clock,
        actor=actor,
    )
    skip(touched, "The task was ended during this window.", actor=actor, clock=clock)
    skip(later, "The task was ended before this window.", actor=actor, clock=clock)
    if waiting := revision_in_review(task):
        state = Revision.State.WITHDRAWN
        move(waiting, to=state, actor=actor, clock=clock, decided_at=now)
    move(task, to=Task.State.ENDED, actor=actor, clock=clock)
    telling.stopped(task, reason, actor=actor, clock=clock)
    return task


def skip(rows: list[TaskWindow], reason: str, *, actor: Actor | None, clock: Clock) -> None:
    for row in rows:
        move(row, to=_State.SKIPPED, actor=actor, clock=clock, reason=reason)


def _touched(task: Task, now: datetime) -> list[TaskWindow]:
    """Windows that have begun and not ended, also where the clock was set back since. Those that
    have ended go on to their release."""
    begun = Q(state=_State.COLLECTING) | Q(state=_State.UPCOMING, start__lte=now)
    return list(task.windows.filter(begun, end__gt=now))


def _stop(task: Task, now: datetime) -> None:
    approved = last_approved(task)
    if approved is not None:
        stop_running(task, Window.containing(now, Unit(approved.window_unit)).next().start)
