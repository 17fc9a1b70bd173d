"""The end of a session: no more updates, the rest of the queue, one flush, the hand-overs.

Nothing here waits for Valkey inside a transaction, and every wait says that the session is alive;
one that is cut off from the database says so no longer than others do.
"""

import logging
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, suppress

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import IntegrityError, connection, transaction

from aggregation.errors import Problem
from aggregation.protocol.windows import Window
from aggregation.sessions.completion import Small
from portal.audit.services import move
from portal.collection import handing_over, live
from portal.collection.beating import beating
from portal.collection.ending import find_takers
from portal.collection.fleet_counts import note_refused
from portal.collection.flushing import SessionOver, TakerGone, Takers, flush
from portal.collection.leaving import Leaving, make_keys, make_ready
from portal.collection.models import HandOver, Session
from portal.collection.placing import bury
from portal.collection.run import Run, look_seconds, rest, where
from portal.collection.selectors import outstanding
from portal.tasks.models import TaskWindow

log = logging.getLogger(__name__)

BATCH = 500
# A flush that the database's own rules refuse does not pass the next time either.
MOST_REFUSALS = 3
_TROUBLE = (DatabaseError, redis.RedisError, OSError)


def complete(run: Run) -> Sequence[Small]:
    """Take the session to its end: flushed, or dead as a whole. Gives what it has handed over."""
    _settle(run, Session.State.COMPLETING, lambda: _stop_taking(run))
    _until(run, lambda: _is_queue_empty(run))
    _until(run, lambda: _has_all_hand_overs(run))
    takers = _await_takers(run, lambda: _small_windows(run))
    if takers is None:
        # Its devices find no receipt and send again: all of them alike, whatever it held.
        bury(run.row, Session.Reason.NO_SUCCESSOR, clock=run.clock)
        return ()
    _until(run, lambda: _has_keys(run))
    leaving = make_ready(
        session=run.row,
        summing=run.summing,
        open_windows=_in_grace(run),
        handing_over=takers.keys(),
        clock=run.clock,
    )
    _flush(run, leaving, takers)
    _push(run, leaving)
    note_refused(leaving.refused, clock=run.clock)
    return leaving.small


def _stop_taking(run: Run) -> None:
    if not move(run.row, to=Session.State.COMPLETING, clock=run.clock):
        raise SessionOver(run.row.pk)


def _is_queue_empty(run: Run) -> bool:
    """Take what front ends have accepted: from here on they find no queue."""
    live.close_queue(run.row.pk)
    while batch := live.pop_closing(run.row.pk, BATCH):
        run.close_due()
        run.summing.take(batch)
        live.beat(run.row.pk)
    return live.is_closing_empty(run.row.pk)


def _has_all_hand_overs(run: Run) -> bool:
    """Nothing more is handed over to a session that completes: what is on its way arrives."""
    run.receive()
    run.read_holds()
    return run.arrivals.are_over(outstanding(run.row))


def _small_windows(run: Run) -> Collection[Window]:
    run.drop_expired()
    return run.summing.windows_small


def _await_takers(run: Run, needed: Callable[[], Collection[Window]]) -> Takers | None:
    """Wait for somebody who takes over; a worker that stops waits so long and no longer. For which
    windows is asked anew each time."""
    deadline = None
    while True:
        with suppress(*_TROUBLE), _beating(run):
            if (takers := find_takers(run, needed())) is not None:
                _note_recovery(run)
                return takers
        if run.is_draining():
            deadline = deadline or time.monotonic() + settings.DRAIN_SECONDS
            if time.monotonic() >= deadline:
                return None
        _pause(run)


def _has_keys(run: Run) -> bool:
    """While nothing is consumed yet: a key folder that is full, away or spoilt is waited for."""
    big = set(run.summing.windows_held) - set(run.summing.windows_small)
    try:
        make_keys(session=run.row, windows=big, clock=run.clock)
    except Problem as problem:
        run.complain(f"waits for its keys: {problem} {problem.hint}", logging.ERROR)
        return False
    return True


def _in_grace(run: Run) -> list[Window]:
    found: list[Window] = []

    def read() -> bool:
        rows = TaskWindow.objects.filter(pk__in=[row.pk for row in run.windows.values()])
        found[:] = [row.as_window() for row in rows.filter(state=TaskWindow.State.GRACE)]
        return True

    _until(run, read)
    return found


def _flush(run: Run, leaving: Leaving, takers: Takers | None) -> None:
    """To those takers, or to others if they have gone. A worker that stops, which it may begin at
    any time, leaves for all windows alike: each needs a taker then, and a living one."""

    def needed() -> list[Window]:
        small = [one.window for one in leaving.small]
        return [*small, *(one.window for one in leaving.sealed)] if run.is_draining() else small

    while takers is not None:
        try:
            _flush_to(run, leaving, takers, needed)
        except TakerGone:
            takers = _await_takers(run, needed)
        else:
            return
    bury(run.row, Session.Reason.NO_SUCCESSOR, clock=run.clock)
    raise SessionOver(run.row.pk)


def _flush_to(
    run: Run, leaving: Leaving, takers: Takers, needed: Callable[[], Collection[Window]]
) -> None:
    def attempt() -> None:
        is_kept = any(taker.state == Session.State.DEAD for taker in takers.values())
        if not takers.keys() >= set(needed()) or (is_kept and run.is_draining()):
            raise TakerGone(run.row.pk)
        flush(session=run.row, leaving=leaving, takers=takers, clock=run.clock)

    _settle(run, Session.State.FLUSHED, attempt)


def _push(run: Run, leaving: Leaving) -> None:
    """Give the sealed states to whom the committed rows name. What a dead collector stands for is
    kept, and given to the next one."""
    states = {small.window.id: small for small in leaving.small}
    deadline = time.monotonic() + handing_over.OVERDUE_SECONDS
    waiting: list[HandOver] = []

    def read() -> bool:
        rows = HandOver.objects.filter(session=run.row).select_related("successor", "window")
        waiting[:] = list(rows.exclude(successor__state=Session.State.DEAD))
        return True

    _until(run, read)
    while waiting and time.monotonic() < deadline:
        try:
            row = waiting[-1]
            handing_over.push(run.row, states[row.window.window], row.successor)
            waiting.pop()
        except redis.RedisError:
            _pause(run)
    if waiting:
        log.error("Session %s could not reach its successors: they go on without.", run.row.pk)


def _settle(run: Run, goal: Session.State, attempt: Callable[[], None]) -> None:
    """Try until the row has moved. Whether a commit went through, the row itself says."""
    before, refusals = Session.State(run.row.state), 0
    while True:
        try:
            with _beating(run):
                attempt()
        except DatabaseError as error:
            refusals += isinstance(error, IntegrityError)
            run.complain(f"tries again: {where(error)}.")
            connection.close()
            if refusals >= MOST_REFUSALS:
                raise
        else:
            _note_recovery(run)
            return
        # Before it is known, there is no next attempt: that would find its own work, take it for
        # another's, and leave undone what is to follow it.
        while (state := _final_state(run)) is None:
            _pause(run)
        if state == goal:
            run.row.state, run.waits_since = goal, None
            return
        if state != before:
            raise SessionOver(run.row.pk)
        _pause(run)


def _state(run: Run) -> str | None:
    """The row's state as it is in the database; nothing if that cannot be read now."""
    with suppress(DatabaseError), _beating(run):
        return Session.objects.values_list("state", flat=True).get(pk=run.row.pk)
    connection.close()
    return None


def _final_state(run: Run) -> str | None:
    """The same, once no commit is on its way any more: whoever commits has the row locked."""
    with suppress(DatabaseError), _beating(run), transaction.atomic():
        return Session.objects.select_for_update(no_key=True).get(pk=run.row.pk).state
    connection.close()
    return None


def _until(run: Run, done: Callable[[], bool]) -> None:
    """Do something until it is done; trouble with a part is waited out."""
    while True:
        try:
            with _beating(run):
                if done():
                    _note_recovery(run)
                    return
        except _TROUBLE as error:
            run.complain(f"waits for a part: {where(error)}.")
            connection.close()
        _pause(run)


def _beating(run: Run) -> AbstractContextManager[None]:
    return beating(run.row.pk, seconds=run.patience)


def _note_recovery(run: Run) -> None:
    """After a step that was done: one that had to wait takes nothing from the next one's patience,
    once the database can be read again."""
    if run.waits_since is not None and _state(run) is not None:
        run.waits_since = None


def _pause(run: Run) -> None:
    """It lives on while the database can be read, and else for as long as others would wait."""
    can_read = _state(run) is not None
    run.waits_since = None if can_read else run.waits_since or time.monotonic()
    rest()
    if run.patience:
        with suppress(redis.RedisError):
            live.beat(run.row.pk)
    time.sleep(min(0.2, look_seconds()))
