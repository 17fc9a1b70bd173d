"""Keeping: what went to a collector stays in its session's memory as well, until it is released.

A collector's memory is that of one process. If it were the only one, whatever ends that process at
the wrong moment would take all that was too small to be stored, and nothing else: in a small town
everybody; and for a session just at `min_contributions`, one device more or less would decide
over all others. So whoever handed over keeps it. Should the collector die, the next one of the
window gets the same again, sealed to its own key.

Nothing counts twice by that. A hand-over has one successor at a time; the database lets it go on
from a dead collector to an open one of the same window, and nowhere else; a dead one settles
nothing; and whoever takes a state over knows the updates in it by their receipts. Only what went
to collectors is kept: once a window has had one, no device is asked for it any more. What a dead
session had taken over, its devices may send again, and it must not come back.

It ends when the window is done, and before that when its worker stops, when it is cut off from the
database for longer than anybody would wait for it, and when a sum stored instead would be erased.
"""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import redis
from django.db import Error as DatabaseError
from django.db import connection, transaction

from aggregation.clock import Clock
from aggregation.sessions.completion import Small
from aggregation.sessions.withheld import Withheld
from portal.collection import handing_over, live
from portal.collection.beating import beating, patience_seconds
from portal.collection.leaving import HIGHER_LASTS
from portal.collection.models import HandOver, Session
from portal.collection.run import look_seconds, rest, where
from portal.collection.selectors import collector_of, kept

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Given:
    """To whom a window's state was last given, and when, in machine time."""

    successor: str
    at: float


@dataclass(repr=False)
class Keeper(Withheld):
    """A session that is over, and what it has given to collectors."""

    session: Session
    small: Sequence[Small]
    clock: Clock
    is_draining: Callable[[], bool]
    _given: dict[str, _Given] = field(default_factory=dict)

    def keep(self) -> None:
        """Stay until nobody needs it again."""
        try:
            self._stay()
        except Exception as error:
            log.error("Session %s keeps no more: %s.", self.session.pk, where(error))
        finally:
            with suppress(redis.RedisError):
                live.forget(self.session.pk)
            connection.close()

    def _stay(self) -> None:
        looked = time.monotonic()
        while self.small and not self.is_draining():
            patience = looked + patience_seconds() - time.monotonic()
            if patience <= 0:
                log.error("Session %s is cut off, and keeps no more.", self.session.pk)
                return
            with suppress(redis.RedisError):
                live.beat(self.session.pk)
            try:
                with beating(self.session.pk, seconds=patience):
                    self._look()
                looked = time.monotonic()
            except redis.RedisError:
                looked = time.monotonic()  # the database has answered
            except (DatabaseError, OSError):
                connection.close()
            rest()
            time.sleep(look_seconds())

    def _look(self) -> None:
        """Keep what may be needed, drop the rest, and give it to whoever lacks it."""
        rows = kept().filter(session=self.session).select_related("window", "successor")
        now = self.clock.now()
        wanted = {row.window.window: row for row in rows if now < row.window.due_at + HIGHER_LASTS}
        self.small = [one for one in self.small if one.window.id in wanted]
        for one in self.small:
            self._see_to(one, wanted[one.window.id])

    def _see_to(self, small: Small, row: HandOver) -> None:
        """Give it to the next collector, if there is one; to the same again, if it never came."""
        now = time.monotonic()
        # When keeping begins, it was given to whom the row names.
        last = self._given.setdefault(small.window.id, _Given(row.successor_id, now))
        if row.successor.state == Session.State.DEAD and not _goes_on(row):
            return
        overdue = now - last.at > handing_over.OVERDUE_SECONDS
        if not row.received and (row.successor_id != last.successor or overdue):
            handing_over.push(self.session, small, row.successor)
            self._given[small.window.id] = _Given(row.successor_id, now)


@transaction.atomic
def _goes_on(row: HandOver) -> bool:
    """Name the window's next collector, if there is one that still takes something."""
    found = collector_of(row.window)
    if found is None:
        return False
    locked = Session.objects.select_for_update(no_key=True).get(pk=found.pk)
    if locked.state != Session.State.OPEN:
        return False
    row.successor, row.received = locked, False
    row.save(update_fields=["successor", "received"])
    return True
