"""Keeping: what went to a collector stays in its session's memory as well, until it is released.

A collector's memory is that of one process. If it were the only one, whatever ends that process at
the wrong moment would take all that was too small to be stored, and nothing else: in a small town
everybody; and for a session just at `min_contributions`, one device more or less would decide
over all others. So the session that handed over stays. Should the collector die, the next one of
the window gets the same again, sealed to its own key. It takes both to lose it.

Nothing counts twice by that. A hand-over has one successor at a time; the database lets it go on
from a dead collector to an open one of the same window, and nowhere else; a dead one settles
nothing; and whoever takes a state over knows the updates in it by their receipts.

It ends when the window is done, when its worker stops, when somebody waits for its slot, and at
the latest when a sum that was stored instead would be erased.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import redis
from django.db import Error as DatabaseError
from django.db import connection, transaction

from aggregation.clock import Clock
from aggregation.sessions.completion import Small
from portal.collection import handing_over, placing
from portal.collection.beating import beating, patience_seconds
from portal.collection.leaving import LEVEL_1_LASTS
from portal.collection.models import HandOver, Session
from portal.collection.run import pause, where
from portal.collection.selectors import collector_of, kept

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Given:
    """To whom a window's state was last given, and when, in machine time."""

    successor: str
    at: float


def keep(
    *, session: Session, small: Sequence[Small], clock: Clock, is_draining: Callable[[], bool]
) -> None:
    """Stay until nobody needs again what the session, which is over, has given to collectors."""
    states = {one.window.id: one for one in small}
    given: dict[str, _Given] = {}
    while states and not is_draining():
        try:
            with beating(session.pk, seconds=patience_seconds()):
                rows = _rows(session, clock.now())
                if not rows or placing.findings().waiting:
                    return
                for row in rows:
                    _see_to(session, row, states[row.window.window], given)
        except (DatabaseError, redis.RedisError) as error:
            log.warning("Session %s waits for a part: %s.", session.pk, where(error))
            connection.close()
        pause(session.pk)


def _rows(session: Session, now: datetime) -> list[HandOver]:
    rows = kept().filter(session=session, window__due_at__gt=now - LEVEL_1_LASTS)
    return list(rows.select_related("window", "successor"))


def _see_to(session: Session, row: HandOver, small: Small, given: dict[str, _Given]) -> None:
    """Give it to the next collector, if there is one; to the same again, if it never arrived."""
    window, now = small.window.id, time.monotonic()
    # When keeping begins, it was given to whom the row names.
    last = given.setdefault(window, _Given(row.successor_id, now))
    if row.successor.state == Session.State.DEAD:
        _go_on(row)
    overdue = now - last.at > handing_over.OVERDUE.total_seconds()
    if not row.received and (row.successor_id != last.successor or overdue):
        handing_over.push(session, small, row.successor)
        given[window] = _Given(row.successor_id, now)


@transaction.atomic
def _go_on(row: HandOver) -> None:
    """Name the window's next collector, if it still takes something."""
    found = collector_of(row.window)
    if found is None:
        return
    locked = Session.objects.select_for_update(no_key=True).get(pk=found.pk)
    if locked.state == Session.State.OPEN:
        row.successor, row.received = locked, False
        row.save(update_fields=["successor", "received"])
