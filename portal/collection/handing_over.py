"""Hand-over: what is too small to be stored goes on, sealed, from one memory to another.

The row comes first, in the sender's flush; the sealed state follows, through the memory-only
queue. A successor completes only once everything that names it has arrived, or is overdue.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec
from django.db import Error as DatabaseError

from aggregation.errors import Problem
from aggregation.protocol.refusal import BadUpdate
from aggregation.protocol.sealing import SessionKeys, seal_state
from aggregation.sessions.completion import Small
from portal.collection import live
from portal.collection.beating import patience_seconds
from portal.collection.models import HandOver, Session
from portal.collection.selectors import kept, outstanding, serving

# Machine time. A sender that has not pushed by then has crashed between its commit and its push.
OVERDUE_SECONDS = 10.0


class _Pushed(msgspec.Struct, frozen=True):
    session: str
    window: str
    sealed: bytes


class Arrivals:
    """What was handed over to one session and has not arrived, and since when that is known here:
    by one clock, for the clocks of two machines differ."""

    def __init__(self) -> None:
        # Machine time, by hand-over.
        self._known_since: dict[int, float] = {}

    def are_over(self, rows: Iterable[HandOver]) -> bool:
        """Whether none of these can still arrive. A sender that lives may have lost the database
        between its commit and its push; it is waited for as long as it would wait itself."""
        now = time.monotonic()
        known = [(row.session_id, self._known_since.setdefault(row.pk, now)) for row in rows]
        alive = live.alive([sender for sender, _ in known])
        patience = patience_seconds()
        return all(
            now - since > OVERDUE_SECONDS + (patience if sender in alive else 0)
            for sender, since in known
        )


def other_session(session: Session) -> Session | None:
    """A living one of the same revision, which devices are sent to."""
    others = list(serving(session.revision).exclude(pk=session.pk).order_by("-opened_at"))
    alive = live.alive([other.pk for other in others])
    return next((one for one in others if one.pk in alive), None)


def push(session: Session, small: Small, successor: Session) -> None:
    sealed = seal_state(
        small.state,
        public=bytes.fromhex(successor.public_key),
        from_session=session.pk,
        to_session=successor.pk,
        window_id=small.window.id,
    )
    live.push_state(
        successor.pk, msgspec.msgpack.encode(_Pushed(session.pk, small.window.id, sealed))
    )


def receive(session: Session, keys: SessionKeys, take: Callable[[str, str, bytes], None]) -> None:
    """Take in what was handed over to a session: `take(from_session, window_id, state)`.

    Only what the database says was handed over is taken, and once.
    """
    while raw := live.pop_state(session.pk):
        # Not ours, or not sealed to us: nothing to count.
        with suppress(msgspec.DecodeError, BadUpdate, HandOver.DoesNotExist):
            pushed = msgspec.msgpack.decode(raw, type=_Pushed)
            try:
                row = _row(session, pushed)
            except DatabaseError:
                live.push_state(session.pk, raw)  # nobody knows yet: ask again later
                raise
            with suppress(Problem):  # here already, or no state: another time would be the same
                _take_one(session, keys, pushed, take)
            # Of this session: if it was declared dead, the hand-over may be another one's by now.
            HandOver.objects.filter(pk=row.pk, successor=session).update(received=True)


def _row(session: Session, pushed: _Pushed) -> HandOver:
    return outstanding(session).get(session_id=pushed.session, window__window=pushed.window)


def _take_one(
    session: Session, keys: SessionKeys, pushed: _Pushed, take: Callable[[str, str, bytes], None]
) -> None:
    state = keys.open_state(
        pushed.sealed,
        from_session=pushed.session,
        to_session=session.pk,
        window_id=pushed.window,
    )
    take(pushed.session, pushed.window, state)


def is_kept_for(collector: Session) -> bool:
    """Whether somebody is there who gives the collector what another one died with, or what did
    not arrive. One that is only silent may be about to speak."""
    rows = kept().filter(window_id=collector.collects_id)
    rows = rows.exclude(successor=collector, received=True)
    keepers = sorted(set(rows.values_list("session_id", flat=True)))
    there, now = live.alive(keepers), time.time()
    live.is_back(there)
    return any(one in there or not live.is_lapsed(one, now) for one in keepers)
