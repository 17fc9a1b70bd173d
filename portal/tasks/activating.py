"""Activation: an approved revision runs from the next window on.

Only windows that begin after the approval are run: what a phone stored before anybody agreed to
the question is never asked for (the device checks the same). A new revision of a running task
takes over at a window's boundary, so each window has one spec from its first moment to its
release.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from aggregation.clock import Clock
from aggregation.protocol.windows import Unit, Window
from portal.accounts.models import Person
from portal.audit.services import move
from portal.ledger.services import reserve
from portal.tasks.models import Revision, Task, TaskWindow
from portal.tasks.planning import first_window, runs_once, windows_ahead
from portal.tasks.signing import approval_for, sign_approval

_UPCOMING = TaskWindow.State.UPCOMING


def activate(*, revision: Revision, approver: Person, clock: Clock) -> None:
    """Charge, sign and run the revision. The caller holds the task's lock and has checked it."""
    task, now = revision.task, clock.now()
    first = first_window(task, Unit(revision.window_unit), now)
    planned = list(task.windows.filter(state=_UPCOMING, start__gte=first.start))
    taken_over = [row.as_window() for row in planned]
    windows = sorted({*windows_ahead(revision, first, now), *taken_over})
    stop_running(task, first.start)
    reserve(
        task=task.name,
        streams=revision.streams,
        windows=windows,
        hundredths=revision.epsilon,
        instead_of=taken_over,
        clock=clock,
        actor=approver,
    )
    _approve(revision, approver=approver, first=first, now=now, clock=clock)
    _take_over(planned, revision)
    add_windows(revision, [w for w in windows if w not in set(taken_over)])
    if task.state != Task.State.ACTIVE:
        move(task, to=Task.State.ACTIVE, actor=approver, clock=clock)
    if runs_once(revision):
        stop_running(task, windows[-1].end)


def add_windows(revision: Revision, windows: Sequence[Window], **fields: str) -> None:
    """Rows for windows that have just been charged (or, with fields, skipped)."""
    grace = grace_of(revision)
    TaskWindow.objects.bulk_create(
        TaskWindow(
            task=revision.task,
            revision=revision,
            window=window.id,
            unit=window.unit,
            start=window.start,
            end=window.end,
            due_at=window.end + grace,
            **fields,
        )
        for window in windows
    )


def grace_of(revision: Revision) -> timedelta:
    return timedelta(hours=msgspec.json.decode(revision.server_config_json)["grace_hours"])


def stop_running(task: Task, at: datetime) -> None:
    """The revision that runs on runs no window from this start on.

    It comes before the caller's entries in the audit log: whoever places its sessions locks it
    first, too.
    """
    running = task.revisions.filter(state=Revision.State.APPROVED, until_window=None)
    running.update(until_window=at)


def _approve(
    revision: Revision, *, approver: Person, first: Window, now: datetime, clock: Clock
) -> None:
    approval = approval_for(revision, approver=approver, approved_at=now)
    key, signature = sign_approval(approval)
    won = move(
        revision,
        to=Revision.State.APPROVED,
        actor=approver,
        clock=clock,
        approver=approver,
        approved_at=now,
        decided_at=now,
        first_window=first.start,
        key_id=key,
        signature=signature,
    )
    assert won  # noqa: S101 - the task's lock is held


def _take_over(rows: Sequence[TaskWindow], revision: Revision) -> None:
    grace = grace_of(revision)
    for row in rows:
        row.revision, row.due_at = revision, row.end + grace
        row.save(update_fields=["revision", "due_at"])
