"""Which windows a task will run, and how far ahead they are charged.

A window exists only once it is charged, so invariant 8 holds however far ahead that happens. How
far is a trade: too short, and another task may take the budget of a week this task counted on;
too long, and a task that is ended next week has kept others out for months (although ending frees
what has not begun). We charge the week under way and the four after it: a reviewer's yes is a
promise for about a month, and a shortage is known weeks before it bites. An activation whose
first weeks do not fit is refused as a whole. After that the heartbeat charges one civil week at a
time; a week that does not fit is tried again until its windows begin, and those that begin
uncharged are skipped with that reason: not collected, not released, not charged.

A task with a built-in step runs the first window alone: one release says what there is to say.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby

import msgspec

from aggregation.protocol.windows import Unit, Window
from portal.ledger.weeks import monday_of
from portal.tasks.models import Revision, Task, TaskWindow

WEEKS_AHEAD = 4


def first_window(task: Task, unit: Unit, now: datetime) -> Window:
    """The first window that begins after now, and after every window that ever began here: a
    clock that was set back must not run a window twice."""
    begun = task.windows.exclude(state=TaskWindow.State.UPCOMING).order_by("-start").first()
    latest = max(now, begun.start) if begun else now
    return Window.containing(latest, unit).next()


def windows_ahead(revision: Revision, first: Window, now: datetime) -> list[Window]:
    """From the first window to the end of the planned weeks; the first one in any case."""
    return [first] if runs_once(revision) else [first, *_until(first.next(), horizon(now))]


def runs_once(revision: Revision) -> bool:
    """A task with a built-in step calibrates another: it runs one window, and costs no other."""
    return has_step(revision.client_task_json)


def has_step(client_task: str) -> bool:
    return "step" in msgspec.json.decode(client_task)


def horizon(now: datetime) -> datetime:
    """Windows that begin before this moment are charged."""
    week = Window.containing(now, Unit.WEEK)
    return week.start + timedelta(weeks=WEEKS_AHEAD + 1)


def by_week(windows: list[Window]) -> list[list[Window]]:
    """Windows that begin in the same civil week are charged together or not at all."""
    return [list(group) for _, group in groupby(windows, key=monday_of)]


def missing_windows(task: Task, first: Window, now: datetime) -> list[Window]:
    """Planned windows without a row, oldest first. Every window that has begun has a row, so it
    is enough to look from the last of those on."""
    known = task.windows.filter(start__gte=first.start)
    begun = known.exclude(state=TaskWindow.State.UPCOMING).order_by("-start").first()
    start = begun.as_window().next() if begun else first
    present = set(known.values_list("start", flat=True))
    return [w for w in _until(start, horizon(now)) if w.start not in present]


def _until(window: Window, end: datetime) -> Iterator[Window]:
    while window.start < end:
        yield window
        window = window.next()
