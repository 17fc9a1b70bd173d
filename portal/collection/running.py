"""One session, run: a long job that pops, sums, looks around once a second, and ends once.

    claim ─► open ─► serve … ─► complete ─► flush ─► push what was small, and keep it for a while

Everything that a device sent lives in the memory of this process, and for moments in that of the
children who open for it (`openers`), and nowhere else. Whatever goes wrong in here ends the session
as a whole: it is dead, nothing of it is stored, its devices find no receipt and send again.
"""

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import redis
from django.db import Error as DatabaseError
from django.db import connection

from aggregation.clock import Clock
from aggregation.protocol.sealing import SessionKeys
from aggregation.sessions.completion import Small
from aggregation.sessions.session import Session as Summing
from portal.collection import draining, last_call, live, openers
from portal.collection.beating import beating
from portal.collection.completing import complete
from portal.collection.ending import is_ready, note_reason, why_end
from portal.collection.flushing import SessionOver
from portal.collection.keeping import Keeper
from portal.collection.models import Session
from portal.collection.opening import config_of, open_session, session_row
from portal.collection.placing import bury
from portal.collection.run import Run, look_seconds, rest, where
from portal.tasks.signing import is_trusted

log = logging.getLogger(__name__)

# Taken at a time: two megabytes of usual updates, opened in less than a tenth of a second.
BATCH = 1024
# An empty queue is asked again after this time.
POLL_SECONDS = 0.05


def run_session(
    *,
    session_id: str,
    worker: str,
    clock: Clock,
    is_draining: Callable[[], bool] = draining.is_draining,
) -> Keeper | None:
    """Run a session that was placed, from its claim to its end. Gives what is to be kept of it,
    without its private key."""
    if not live.claim(session_id, secrets.token_hex(8)):
        return None
    if is_draining():
        _decline(session_id, clock)
        return None
    run = _opened(session_id, worker, clock, is_draining)
    if run is None:
        return None
    small = _run(run)
    if small:
        return Keeper(run.row, small, clock, is_draining)
    with suppress(redis.RedisError):
        live.forget(session_id)
    return None


def _run(run: Run) -> Sequence[Small]:
    """To its end, whatever that is. Gives what it has handed over."""
    try:
        serve(run)
        return complete(run)
    except SessionOver:
        if run.row.reason == Session.Reason.NO_SUCCESSOR:  # by itself, and told already
            return ()
        log.warning("Session %s found itself over: what it held is dropped.", run.row.pk)
    except Exception as error:
        log.error("Session %s ends with a fault: %s.", run.row.pk, where(error))
        _end_as_dead(run)
    finally:
        openers.forget()
        rest()
    return ()


def serve(run: Run) -> None:
    """Take what devices send until there is a reason to end, and everyone is there for it.

    Nothing is taken before it is known which windows are open: it would be refused.
    """
    look_at, knows_windows = 0.0, False
    while True:
        if time.monotonic() >= look_at:
            if look_around(run):
                return
            look_at = time.monotonic() + look_seconds()
            knows_windows = knows_windows or run.waits_since is None
        if not (knows_windows and _take_batch(run)):
            time.sleep(POLL_SECONDS)


def _opened(
    session_id: str, worker: str, clock: Clock, is_draining: Callable[[], bool]
) -> Run | None:
    row = session_row(session_id)
    if row is None or row.state != Session.State.OPENING:
        return None
    if not is_trusted(row.revision):
        bury(row, Session.Reason.UNTRUSTED, clock=clock)
        return None
    config, keys = config_of(row), SessionKeys.fresh()
    summing = Summing(id=row.pk, config=config, keys=keys, windows=(), helper=openers.helper())
    live.open_queue(row.pk)
    live.beat(row.pk)
    if not open_session(session=row, keys=keys, worker=worker, clock=clock):
        live.forget(row.pk)
        return None
    return Run(row, config, keys, summing, clock, is_draining)


def _decline(session_id: str, clock: Clock) -> None:
    """A worker that stops begins nothing: the session is over at once, and placed elsewhere."""
    row = session_row(session_id)
    if row is not None and row.state == Session.State.OPENING:
        bury(row, Session.Reason.UNCLAIMED, clock=clock)


def _take_batch(run: Run) -> bool:
    """Whether there was anything. A queue that cannot be reached is asked again."""
    try:
        batch = live.pop(run.row.pk, BATCH)
    except redis.RedisError as error:
        run.complain(f"cannot reach its queue ({type(error).__name__}).")
        time.sleep(look_seconds())
        return False
    if batch:
        began = time.monotonic()
        taken = run.summing.take(batch)
        now = time.monotonic()
        run.meters.took(len(batch), accepted=taken.accepted, seconds=now - began, now=now)
    return bool(batch)


def look_around(run: Run) -> bool:
    """Whether it is time to complete. Trouble with the database or the queues is waited out."""
    began = time.monotonic()
    try:
        with beating(run.row.pk, seconds=run.patience):
            # In this order: the hold on a window is there before what comes of it.
            run.receive()
            run.refresh()
            run.beat()
            run.waits_since = None
            reason = why_end(run)
            note_reason(run, reason)
            return bool(reason) and last_call.is_over(run, reason) and is_ready(run, reason)
    except (DatabaseError, redis.RedisError) as error:
        run.complain(f"waits for a part: {where(error)}.")
        connection.close()
        run.waits_since = run.waits_since or began
        run.close_due()
        if run.patience:
            with suppress(redis.RedisError):
                run.beat()
        return False
    finally:
        rest()


def _end_as_dead(run: Run) -> None:
    try:
        run.row.refresh_from_db(fields=["state"])
        if run.row.state in Session.ALIVE:
            bury(run.row, Session.Reason.FAULT, clock=run.clock)
    except (DatabaseError, redis.RedisError):
        log.warning("Session %s could not be declared dead: its lapse will.", run.row.pk)
