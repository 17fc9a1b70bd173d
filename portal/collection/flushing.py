"""The one flush: everything that a session leaves, in one transaction with its move to flushed.

The argument. The session's row is locked and still `completing`, so nobody has declared it dead:
its devices have not been told that they may send again. Its windows are locked and still in
grace, so no release has summed them. Partials, receipts and hand-overs commit together with the
move to `flushed`, which is final. Hence an update is in a window's stored partials if and only if
it has a receipt there. A second flush, a flush after death (a zombie's) and a flush after closing
find the row or the window changed and leave nothing; the database itself refuses them, too.

An error that leaves open whether the transaction was committed is no matter: the row says it.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from django.db import transaction

from aggregation.clock import Clock
from aggregation.protocol.windows import Window
from aggregation.sessions.completion import Small
from portal.audit.services import move, record
from portal.collection.leaving import Leaving, Sealed
from portal.collection.models import HandOver, Hold, Partial, Receipts, Session
from portal.tasks.models import TaskWindow

Takers = Mapping[Window, Session]


class SessionOver(Exception):
    """Somebody declared the session dead, or it was flushed before: nothing is stored."""


class TakerGone(Exception):
    """Whoever was to take a small window over is not open any more: find another."""


@transaction.atomic
def flush(*, session: Session, leaving: Leaving, takers: Takers, clock: Clock) -> None:
    """Store what a session leaves. Raises SessionOver or TakerGone, and then nothing is stored.

    A window that is not in grace any more is too late and left out, as if it had not been held.
    """
    row = _lock_sessions(session, takers)
    windows = _lock_windows(row)
    _refuse_to_pass_collectors(row, windows, takers)
    stored = [_store(row, windows[one.window], one, clock) for one in leaving.sealed
              if one.window in windows]  # fmt: skip
    for small in leaving.small:
        if small.window in windows:
            _hand_over(row, windows[small.window], takers[small.window], small)
    for partial in stored:
        record(action="partial.stored", subject=partial, clock=clock)
    move(
        row,
        to=Session.State.FLUSHED,
        clock=clock,
        ended_at=datetime.now(UTC),
        counts=leaving.counts,
    )
    session.state = row.state


def _lock_sessions(session: Session, takers: Takers) -> Session:
    """All in one order, so that two sessions that flush cannot wait for each other. Takers are as
    they were found: open, or collectors for which the next one gets what is kept."""
    wanted = {taker.pk: taker.state for taker in takers.values()}
    rows = Session.objects.select_for_update(no_key=True).order_by("pk")
    found = {row.pk: row for row in rows.filter(pk__in=[*wanted, session.pk])}
    if found[session.pk].state != Session.State.COMPLETING:
        raise SessionOver(session.pk)
    if any(found[pk].state != state for pk, state in wanted.items()):
        raise TakerGone(session.pk)
    return found[session.pk]


def _lock_windows(row: Session) -> dict[Window, TaskWindow]:
    """The windows it holds that are still in grace; they stay so until the commit."""
    held = Hold.objects.filter(session=row).values("window_id")
    rows = TaskWindow.objects.filter(pk__in=held, state=TaskWindow.State.GRACE)
    return {w.as_window(): w for w in rows.order_by("pk").select_for_update(no_key=True)}


def _refuse_to_pass_collectors(
    row: Session, windows: Mapping[Window, TaskWindow], takers: Takers
) -> None:
    """A window that has had a collector goes to one, and nowhere else; asked for each that has a
    taker, whether its sum is small or not."""
    others = [windows[w] for w, one in takers.items() if w in windows and one.collects_id is None]
    if Session.objects.filter(collects__in=others).exists():
        raise TakerGone(row.pk)


def _store(row: Session, window: TaskWindow, sealed: Sealed, clock: Clock) -> Partial:
    partial = Partial.objects.create(
        id=sealed.id,
        window=window,
        level=1,
        session=row,
        key_day=sealed.key_day,
        body=sealed.envelope,
        created_at=clock.now(),
        expires_at=sealed.expires_at,
    )
    Receipts.objects.bulk_create(
        Receipts(session_id=origin, window=window, flushed_by=row, ids=ids)
        for origin, ids in sealed.receipts.items()
        if ids
    )
    return partial


def _hand_over(row: Session, window: TaskWindow, taker: Session, small: Small) -> None:
    if taker.collects_id is None:
        Hold.objects.get_or_create(session=taker, window=window)
    ids = small.receipts.get(row.pk, b"")
    HandOver.objects.create(session=row, window=window, successor=taker, ids=ids)
