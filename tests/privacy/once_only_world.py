"""The world of the once-only rule: what a phone, sessions, collectors and the wire hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

from devices_sim.device.once_only import Record

WAITING, OPEN, FLUSHED, DEAD = "waiting", "open", "flushed", "dead"
# What a session holds: (origin session, update id, window).
Held = frozenset[tuple[int, int, str]]


@dataclass(frozen=True)
class Rules:
    """The protocol's rules; each can be broken to see that the search finds out."""

    same_id_on_retry: bool = True
    same_session_on_retry: bool = True
    over_needs_the_database: bool = True
    a_receipt_is_asked_for: bool = True
    flush_is_fenced: bool = True
    session_takes_an_id_once: bool = True
    stored_before_sent: bool = True
    receipts_with_the_flush: bool = True
    handed_over_is_awaited: bool = True
    handed_over_is_named: bool = True
    inherited_receipts: bool = True
    hand_over_after_commit: bool = True
    collected_takes_no_more: bool = True
    kept_for_collectors_only: bool = True


@dataclass(frozen=True)
class Bounds:
    sessions: int = 2
    # One after the other, each when all before it are dead. They come behind the sessions.
    collectors: int = 0
    updates: int = 2
    windows: tuple[str, ...] = ("1",)
    hand_overs: bool = True
    # Processes are killed, sessions declared dead, hand-overs lost, windows closed.
    faults: tuple[str, ...] = ("killed", "dead", "lost", "closed")


@dataclass(frozen=True)
class Session:
    state: str = OPEN
    alive: bool = True
    # Ids its process has seen, and what it holds.
    seen: frozenset[int] = frozenset()
    held: Held = frozenset()
    # Where each of its windows went, once it is over: (window, session).
    handed: frozenset[tuple[str, int]] = frozenset()
    # Which of the ids that were sent to it are in what it handed over.
    named: frozenset[int] = frozenset()
    collects: bool = False
    # What it gave to a collector and has in its memory yet, and to which one.
    kept: tuple[int, Held] | None = None


@dataclass(frozen=True)
class World:
    # The phone: what it has stored, and an answer it has not yet dealt with.
    record: Record | None
    waiting: frozenset[str]
    answer: object = None
    # The server.
    sessions: tuple[Session, ...] = ()
    receipts: Held = frozenset()
    closed: frozenset[str] = frozenset()
    # Whether a collector has ever been there: no session is given for a window any more.
    collected: bool = False
    counts: tuple[tuple[str, int], ...] = ()
    # Uploads ever sent: (session, id, windows); hand-overs under way: (to, what).
    wire: frozenset[tuple[int, int, tuple[str, ...]]] = frozenset()
    passing: frozenset[tuple[int, Held]] = frozenset()
    ids: int = 0

    def with_session(self, number: int, session: Session) -> World:
        sessions = list(self.sessions)
        sessions[number] = session
        return replace(self, sessions=tuple(sessions))

    def with_counted(self, counted: Held) -> World:
        counts = tuple((w, n + sum(h[2] == w for h in counted)) for w, n in self.counts)
        return replace(self, counts=counts)


def gone(session: Session) -> Session:
    return replace(session, alive=False, seen=frozenset(), held=frozenset())
