"""After a backup was put back: whatever may have been spent since counts as spent.

The argument. Let the database be as it was at some moment, and let anything the rules allow have
happened between then and now. Two things must not follow: that a device is counted in a second
release of a window, and that the windows of a civil week cost it more than the cap.

A window that is due by now may have been released, so it is never released again: it is skipped,
and stays charged. One that is due later was not: no window is released before it is due, so what
comes is its only release. For a week before the forgotten time nothing can have been charged since,
as only windows that have not begun are. In the weeks that the forgotten time touches, though, tasks
may have run that the database knows nothing of. So every window that overlaps one of these weeks is
skipped, and what is left of the week is spent: from now on nothing is collected for it, and what
was before was within the cap.

Skipping takes less from devices, never more. What was collected and is not released is lost.

What people stopped in the forgotten time, the database believes to be going on: tasks that were
paused or ended, tokens that were revoked, people who were let go. So every task that runs is
paused, and to go on is an activation, which a second person approves; every token is revoked, and
everybody is signed out. Who may sign in again is for an operator to look through.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.contrib.sessions.models import Session as SignedIn
from django.db import transaction
from django.db.models import Q

from aggregation.clock import Clock
from aggregation.errors import Problem
from aggregation.partials.keys import KeyName
from aggregation.protocol.windows import Unit, Window
from portal.accounts.models import ApiToken
from portal.audit import witness
from portal.audit.models import Head
from portal.audit.services import Change, move, record
from portal.collection.keys import partial_keys
from portal.collection.models import Partial, Session
from portal.collection.placing import bury
from portal.ledger.services import settle, use_up
from portal.streams.selectors import streams
from portal.tasks.locking import locked
from portal.tasks.models import Task, TaskWindow
from portal.tasks.running import pause_now, skip

_State = TaskWindow.State
_OPEN = (_State.UPCOMING, _State.COLLECTING, _State.GRACE, _State.RELEASING)
REASON = "The database was put back from a backup; this window may have been released before."
PAUSED = (
    "The database was put back from a backup, and has forgotten whether somebody stopped this task."
)


@dataclass(frozen=True)
class Accepted:
    # Civil.
    forgotten_since: datetime
    windows: int
    weeks: int
    partials: int
    tasks: int
    tokens: int


def accept_restore(*, clock: Clock, since: datetime | None = None) -> Accepted:
    """Make a database that has forgotten something safe to go on with. Harmless twice.

    `since` is the civil time at which the backup was made. Without it what is remembered beside
    the database counts, with it the earlier of the two.
    """
    since = _forgotten_since(since, clock.now())
    for session in Session.objects.filter(state__in=Session.ALIVE):
        bury(session, Session.Reason.LOST, clock=clock)
    with transaction.atomic():
        done = _accepted(since.astimezone(UTC), clock)
    _erase_unknown_keys()
    witness.begin_anew()
    return done


def _forgotten_since(told: datetime | None, now: datetime) -> datetime:
    if told is not None and told > now:
        raise Problem(
            f"{told:%Y-%m-%d %H:%M} UTC has not come yet.",
            hint="Say when the backup was made that was put back.",
        )
    known = [moment for moment in (told, witness.forgotten_since()) if moment]
    if not known:
        raise Problem(
            f"Nobody knows what this database has forgotten: {witness.FILE} in the key folder "
            "does not say.",
            hint="Say when the backup was made, such as --since 2026-11-18T03:00Z.",
        )
    return min(*known, now)


def _accepted(since: datetime, clock: Clock) -> Accepted:
    first, last = (Window.containing(moment, Unit.WEEK) for moment in (since, clock.now()))
    touched = Q(start__lt=last.end, end__gt=first.start) | Q(due_at__lte=clock.now())
    windows = sum(_skipped(task, touched, clock) for task in Task.objects.order_by("pk"))
    tasks = _pause_tasks(clock)
    names = [one.stream.name for one in streams()]
    weeks = use_up(streams=names, mondays=_mondays(first, last), clock=clock)
    partials = _expire_partials(clock)
    done = Accepted(since, windows, weeks, partials, tasks, _sign_all_out(clock))
    _record(done, clock)
    return done


def _record(done: Accepted, clock: Clock) -> None:
    since = done.forgotten_since.isoformat(timespec="seconds")
    changes = [
        Change("forgotten_since", None, since),
        Change("windows_skipped", None, done.windows),
        Change("weeks_used_up", None, done.weeks),
        Change("tasks_paused", None, done.tasks),
        Change("tokens_revoked", None, done.tokens),
    ]
    head = Head.objects.get_or_create(pk=1)[0]
    record(action="restore.accepted", subject=head, clock=clock, changes=changes)


def _skipped(task: Task, touched: Q, clock: Clock) -> int:
    task = locked(task)
    rows = list(task.windows.filter(touched, state__in=_OPEN).order_by("start"))
    settle(task=task.name, spent=[row.as_window() for row in rows], freed=(), clock=clock)
    skip(rows, REASON, actor=None, clock=clock)
    return len(rows)


def _pause_tasks(clock: Clock) -> int:
    """Their windows to come stay charged, and are skipped until a second person has approved."""
    running = list(Task.objects.filter(state=Task.State.ACTIVE).order_by("pk"))
    for task in running:
        pause_now(task=task, reason=PAUSED, actor=None, clock=clock)
    return len(running)


def _sign_all_out(clock: Clock) -> int:
    """Says how many tokens worked."""
    tokens = list(ApiToken.objects.filter(state=ApiToken.State.ACTIVE).order_by("pk"))
    for token in tokens:
        move(token, to=ApiToken.State.REVOKED, clock=clock, action="token.revoked")
    SignedIn.objects.all().delete()
    return len(tokens)


def _mondays(first: Window, last: Window) -> list[date]:
    count = (last.start - first.start) // timedelta(weeks=1)
    return [first.start.date() + timedelta(weeks=n) for n in range(count + 1)]


def _expire_partials(clock: Clock) -> int:
    """Sums of skipped windows, and those whose key was erased since: nobody reads them again."""
    keys = partial_keys()
    known = set(keys.names())
    stored = Partial.objects.filter(state=Partial.State.STORED).select_related("window__task")
    expired = 0
    for partial in stored.defer("body"):
        window = partial.window
        name = KeyName(window.task.name, window.window, partial.level, partial.key_day)
        if window.state == _State.SKIPPED or name not in known:
            keys.erase(name)
            move(partial, to=Partial.State.EXPIRED, clock=clock, body=b"")
            expired += 1
    return expired


def _erase_unknown_keys() -> None:
    """Of windows that this database knows nothing of: whoever finds the one that was lost could
    read their sums, and nobody would ever erase them."""
    keys = partial_keys()
    known = set(TaskWindow.objects.values_list("task__name", "window"))
    for name in keys.names():
        if (name.task, name.window_id) not in known:
            keys.erase(name)
