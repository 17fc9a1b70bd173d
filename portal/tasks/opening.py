"""The heartbeat's work on windows: charge those to come, open those that begin, close collection.

A window opens only if its revision's signature verifies: a row that somebody wrote into the
database without the key runs nowhere, and its task is paused with that reason. And only if it is
charged what was signed: a charge that somebody wrote beside it pays for nothing.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from aggregation.clock import Clock
from aggregation.protocol.windows import Unit, Window
from portal.audit.services import move, record
from portal.ledger.selectors import weeks_short_of
from portal.ledger.services import NotEnough, reserve, settle
from portal.tasks import telling
from portal.tasks.activating import add_windows
from portal.tasks.locking import locked
from portal.tasks.models import Revision, Task, TaskWindow
from portal.tasks.planning import by_week, horizon, missing_windows
from portal.tasks.selectors import is_paid_for, running_revision
from portal.tasks.shortage import shortages_of
from portal.tasks.signing import is_trusted

_State = TaskWindow.State


def tasks_with_due_windows(now: datetime) -> list[Task]:
    due = Q(state=_State.UPCOMING, start__lte=now) | Q(state=_State.COLLECTING, end__lte=now)
    ids = TaskWindow.objects.filter(due).values("task_id").distinct()
    return list(Task.objects.filter(pk__in=ids))


@transaction.atomic
def advance_windows(*, task: Task, clock: Clock) -> None:
    """Take a task's windows to where the clock is: open, skip, or close for new devices."""
    task, now = locked(task), clock.now()
    begun = _begun(task, now)
    reasons = {row: reason for row in begun if (reason := _why_skipped(task, row))}
    settle(
        task=task.name,
        spent=[row.as_window() for row in reasons],
        freed=(),
        clock=clock,
    )
    for row in begun:
        if row in reasons:
            move(row, to=_State.SKIPPED, clock=clock, reason=reasons[row])
        else:
            move(row, to=_State.COLLECTING, clock=clock)
    for row in task.windows.filter(state=_State.COLLECTING, end__lte=now):
        move(row, to=_State.GRACE, clock=clock)


def extend_windows(*, task: Task, clock: Clock) -> None:
    """Charge the weeks to come, each in a transaction of its own; skip what began uncharged."""
    revision = running_revision(task)
    if revision is None or revision.first_window is None:
        return
    first = Window(revision.first_window, Unit(revision.window_unit))
    for windows in by_week(missing_windows(task, first, clock.now())):
        _extend_by(task, revision, windows, clock=clock)


def tasks_to_extend() -> list[Task]:
    return list(Task.objects.filter(state=Task.State.ACTIVE))


@transaction.atomic
def _extend_by(task: Task, revision: Revision, windows: Sequence[Window], *, clock: Clock) -> None:
    task, now = locked(task), clock.now()
    running = running_revision(task)
    if task.state != Task.State.ACTIVE or running != revision or not is_trusted(revision):
        return
    begun = [window for window in windows if window.start <= now]
    later = [window for window in windows if now < window.start < horizon(now)]
    if later and _charged(revision, later, clock=clock):
        add_windows(revision, later)
    elif later:
        telling.budget_short(revision, shortages_of(revision, later), clock=clock)
    if begun:
        _skip_uncharged(task, revision, begun, clock=clock)


def _charged(revision: Revision, windows: Sequence[Window], *, clock: Clock) -> bool:
    try:
        reserve(
            task=revision.task.name,
            streams=revision.streams,
            windows=windows,
            hundredths=revision.epsilon,
            clock=clock,
        )
    except NotEnough:
        return False
    return True


def _skip_uncharged(
    task: Task, revision: Revision, windows: Sequence[Window], *, clock: Clock
) -> None:
    reason = _why_uncharged(revision, windows)
    add_windows(revision, windows, state=_State.SKIPPED, reason=reason)
    for row in task.windows.filter(start__in=[w.start for w in windows]):
        record(action="taskwindow.skipped", subject=row, clock=clock)
    telling.windows_skipped(revision, windows, reason, clock=clock)


def _begun(task: Task, now: datetime) -> list[TaskWindow]:
    rows = task.windows.filter(state=_State.UPCOMING, start__lte=now)
    return list(rows.select_related("revision__task", "revision__approver").order_by("start"))


def _runs(task: Task, row: TaskWindow) -> bool:
    until = row.revision.until_window
    return task.state == Task.State.ACTIVE and (until is None or row.start < until)


def _why_uncharged(revision: Revision, windows: Sequence[Window]) -> str:
    short = weeks_short_of(revision.epsilon, streams=revision.streams, windows=windows)
    if short:
        return f"Too little ε was left for {' and '.join(short)} when this window began."
    return "This window began before it was charged: the system was not running."


def _why_skipped(task: Task, row: TaskWindow) -> str:
    """Nothing, if the window opens."""
    if not is_trusted(row.revision):
        return "The revision's approval does not verify, so nothing was collected."
    if not _runs(task, row):
        ended = task.state == Task.State.ENDED
        return f"The task was {'ended' if ended else 'paused'} when this window began."
    if not is_paid_for(row):
        return "The charge for this window is not what it costs, so nothing was collected."
    return ""
