"""Gathering: one closing window's whole sum, in the memory of the process that releases it.

    with gather(window=window, clock=clock) as gathered:
        noised = … gathered.core …
        with transaction.atomic():
            …store the release…
            settle(gathered, clock=clock)

Opening the collector closes the window for good: no session takes a new hold on it. Every session
that has one completes: a big sum becomes a partial, a small one is handed over to the collector.
When nobody holds the window any more, and everything that was handed over has arrived, the window
moves on to `releasing`, which the database takes as the end of all partials and receipts for it.
Then what is stored is opened and added. So each update that was counted is in the sum exactly
once: in one partial, or in one hand-over.

Should this process die, the collector's lapse is noticed and another one can gather again: it finds
what was stored, and gets again what was handed over from those who keep it (`keeping`).
"""

import contextlib
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import redis
from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction

from aggregation.clock import Clock
from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.errors import Problem
from aggregation.partials.merge import fold
from aggregation.protocol.ids import fresh_session_id
from aggregation.protocol.sealing import SessionKeys
from aggregation.protocol.server_config import ServerConfig
from aggregation.sessions.collector import Collector
from portal.audit.services import move, record
from portal.collection import handing_over, live
from portal.collection.beating import beating
from portal.collection.keys import partial_keys
from portal.collection.models import Partial, Session
from portal.collection.opening import config_of, open_session
from portal.collection.placing import bury
from portal.collection.reach import note_reach
from portal.collection.run import rest
from portal.collection.selectors import holders, outstanding
from portal.collection.stored import as_stored
from portal.problems import Conflict
from portal.tasks.models import TaskWindow


@dataclass(frozen=True, repr=False)
class Gathered:
    """A window's sum before noise. It stays in this process's memory."""

    window: TaskWindow
    collector: Session
    config: ServerConfig
    core: GroupBySum
    # Of what was handed over and is stored nowhere: session → packed update ids.
    receipts: Mapping[str, bytes]
    partials: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Gathered({self.window.pk}, contents withheld)"


@contextmanager
def gather(
    *, window: TaskWindow, clock: Clock, worker: str = "", within_seconds: float = 120
) -> Iterator[Gathered]:
    """Everything that was contributed to a window whose grace is over.

    Raises Conflict if it is not due, or somebody else gathers it; Problem if its sessions do not
    end in time. Unless it is settled, the collector is dead afterwards.
    """
    keys = SessionKeys.fresh()
    row = _opened_collector(window, keys, worker, clock)
    collector = Collector(id=row.pk, config=config_of(row))
    try:
        # Its sum takes as long as it takes.
        with beating(row.pk, seconds=math.inf):
            _await_sessions(row, keys, collector, deadline=time.monotonic() + within_seconds)
            _close(row, clock=clock)
            yield _gathered(row, collector, now=clock.now())
    finally:
        _leave(row, clock=clock)


def settle(gathered: Gathered, *, clock: Clock) -> None:
    """The window's sum is used: in the caller's transaction, beside what it was used for.

    Partials are merged, and their keys are erased afterwards. The receipts of what was handed
    over need not be stored: the window never opens again, so nobody may send it again.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("`settle` belongs in the transaction that stores the release.")
    locked = Partial.objects.select_for_update(no_key=True).defer("body").order_by("pk")
    partials = list(locked.filter(pk__in=gathered.partials, state=Partial.State.STORED))
    if len(partials) != len(gathered.partials):
        raise Conflict(f"Partials of {gathered.window} changed while they were summed.")
    flushed = Session.State.FLUSHED
    if not move(gathered.collector, to=flushed, clock=clock, ended_at=datetime.now(UTC)):
        raise Conflict(
            f"The collector of {gathered.window} was declared dead.", hint="Gather it again."
        )
    for partial in partials:
        move(partial, to=Partial.State.MERGED, clock=clock)
    note_reach(window=gathered.window, contributed=gathered.core.contributions)


def _opened_collector(window: TaskWindow, keys: SessionKeys, worker: str, clock: Clock) -> Session:
    _refuse_early(window, clock)
    row = Session(
        id=fresh_session_id(),
        revision=window.revision,
        collects=window,
        requested_at=datetime.now(UTC),
    )
    live.beat(row.pk)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            record(action="session.requested", subject=row, clock=clock)
            open_session(session=row, keys=keys, worker=worker, clock=clock)
    except IntegrityError:
        raise Conflict(f"{window} is being gathered already.") from None
    return row


def _refuse_early(window: TaskWindow, clock: Clock) -> None:
    window.refresh_from_db()
    due = window.state == TaskWindow.State.GRACE and window.due_at <= clock.now()
    if not due and window.state != TaskWindow.State.RELEASING:
        raise Conflict(
            f"{window} is not to be gathered: it is {window.get_state_display().lower()}.",
            hint=f"Its grace ends at {window.due_at:%Y-%m-%d %H:%M} UTC.",
        )


def _await_sessions(
    row: Session, keys: SessionKeys, collector: Collector, *, deadline: float
) -> None:
    """Take over what is handed over, until nobody holds the window and nothing is on its way.

    A Valkey or a database that is away is waited for: what was taken over may be in this memory
    alone, and if it were given up, sums would be lost that were too small to be stored, and no
    others.
    """

    def take(from_session: str, window_id: str, state: bytes) -> None:
        collector.take_over(state, from_session=from_session)

    assert row.collects is not None  # noqa: S101 - it is a collector
    arrivals = handing_over.Arrivals()
    while True:
        try:
            # In this order: who has no hold any more has committed its hand-over.
            held = holders(row.collects).exists()
            handing_over.receive(row, keys, take)
            here = arrivals.are_over(outstanding(row))
            if not held and here and not handing_over.is_kept_for(row):
                return
        except (OperationalError, InterfaceError):
            connection.close()
        except redis.RedisError:
            pass
        if time.monotonic() >= deadline:
            raise Problem(
                f"The sessions that hold {row.collects} did not end in time.",
                hint="It is gathered again; if this stays, see the log of the session workers.",
            )
        rest()
        time.sleep(min(0.2, settings.HEARTBEAT_SECONDS))


def _close(row: Session, *, clock: Clock) -> None:
    """From here on nothing is stored for the window any more: the database sees to it."""
    with transaction.atomic():
        Session.objects.select_for_update(no_key=True).get(pk=row.pk)
        window = TaskWindow.objects.select_for_update(no_key=True).get(collectors=row)
        if not move(row, to=Session.State.COMPLETING, clock=clock):
            raise Conflict(f"The collector of {window} was declared dead.")
        if window.state == TaskWindow.State.GRACE:
            move(window, to=TaskWindow.State.RELEASING, clock=clock)
        row.collects = window


def _gathered(row: Session, collector: Collector, *, now: datetime) -> Gathered:
    """What has expired is not read any more, whether or not its key is erased yet."""
    window, config = row.collects, config_of(row)
    assert window is not None  # noqa: S101 - it is a collector
    stored_now = Partial.objects.filter(window=window, state=Partial.State.STORED)
    rows = stored_now.filter(expires_at__gt=now).order_by("pk")
    ids = tuple(rows.values_list("pk", flat=True))
    params = Params.of(config).without_threshold()
    stored = (as_stored(one, window) for one in rows.iterator(chunk_size=1))
    collected = collector.finish(fold(stored, keys=partial_keys(), params=params))
    return Gathered(window, row, config, collected.core, collected.receipts, ids)


def _leave(row: Session, *, clock: Clock) -> None:
    """A collector that was not settled is dead; whoever it handed its lapse to has nothing left."""
    with contextlib.suppress(redis.RedisError):
        live.forget(row.pk)
    row.refresh_from_db(fields=["state"])
    if row.state in Session.ALIVE:
        bury(row, Session.Reason.FAULT, clock=clock)
