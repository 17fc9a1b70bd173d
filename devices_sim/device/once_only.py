"""Once only: when a phone may send an update, send it again, or run its windows anew.

A phone stores the session, the update id, the windows and the sealed bytes in one transaction with
its other state before it first sends. From then on only this rule decides, from the stored record
and the latest answer:

- The same bytes go to the same session under the same id, as often as it takes: the session takes
  an id once.
- Taken into the queue (202) is not counted: the session may die. The phone asks until the session
  is over.
- A session that is over has either a receipt of the id for a window, or never will have one: its
  one flush is fenced, and stores sums and receipts together. Only then may a window without a
  receipt go out again, elsewhere and under a new id.
- An unknown session has told nothing, so its windows are given up: loss is possible, a double
  count is not.

Pure: no clock, no storage, no network. What is checked here is what runs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    # It may or may not have arrived; the sealed bytes are kept.
    STORED = "stored"
    # It is in the session's queue; the sealed bytes are gone from the phone.
    QUEUED = "queued"
    # The session takes nothing more from us: only its end is awaited.
    SHUT = "shut"


@dataclass(frozen=True)
class Record:
    """What a phone has stored about one update on its way."""

    session: str
    update: str
    windows: tuple[str, ...]
    stage: Stage = Stage.STORED


# Answers to an upload …
@dataclass(frozen=True)
class Queued:
    """202: it is in the session's queue."""


@dataclass(frozen=True)
class SessionShut:
    """410: the session's queue is gone. It says nothing about whether we were counted."""


@dataclass(frozen=True)
class NotTaken:
    """411, 413, 422: the server will never take these bytes under this id."""


# … to either …
@dataclass(frozen=True)
class NoAnswer:
    """Silence, a busy server, or an answer that makes no sense: the phone knows nothing new."""


# … and to the question how an update fared.
@dataclass(frozen=True)
class StillOpen:
    """The session goes on; whether it has the update is not told."""


@dataclass(frozen=True)
class Over:
    """The session has ended, and these windows of the update are counted.

    Others that are still open are not, and never will be under this id. Of a window whose release
    has begun there are no receipts any more: nothing is known, and it never goes out again.
    """

    counted: frozenset[str]


@dataclass(frozen=True)
class UnknownSession:
    """404: the server knows nothing of this session any more."""


Answer = Queued | SessionShut | NotTaken | NoAnswer | StillOpen | Over | UnknownSession


@dataclass(frozen=True)
class Send:
    """Send the stored bytes to the record's session under the record's id."""


@dataclass(frozen=True)
class Ask:
    """Ask the server how the update fared."""


@dataclass(frozen=True)
class Rest:
    """Nothing more at this wake-up; the record stays, and the next one begins by asking."""


@dataclass(frozen=True)
class Settle:
    """The record has served. Each of its windows is in exactly one of these."""

    counted: tuple[str, ...] = ()
    # May be run again, under a new assignment, while the server lists them as open.
    again: tuple[str, ...] = ()
    # Never again: they may have been counted.
    given_up: tuple[str, ...] = ()


# A record just stored begins with Send, one found at a wake-up with Ask.
Step = Send | Ask | Rest | Settle


def next_step(record: Record, answer: Answer) -> tuple[Record, Step]:
    """The record as it is to be stored after this answer, and what to do then."""
    step: Step = Rest()
    match answer:
        case Queued():
            record = _at(record, Stage.QUEUED)
        case NotTaken():
            record = _at(record, Stage.SHUT)
        case SessionShut():
            # An earlier try may have got in: only the session's end tells.
            record, step = _at(record, Stage.SHUT), Ask()
        case StillOpen() if record.stage is Stage.STORED:
            step = Send()
        case Over(counted):
            step = _settled(record.windows, counted)
        case UnknownSession():
            step = Settle(given_up=record.windows)
    return record, step


def abandon(record: Record) -> Settle:
    """Stop asking, because its owner opted out or its events are gone: all may be counted."""
    return Settle(given_up=record.windows)


def _at(record: Record, stage: Stage) -> Record:
    return Record(record.session, record.update, record.windows, stage)


def _settled(windows: tuple[str, ...], counted: Collection[str]) -> Settle:
    return Settle(
        counted=tuple(w for w in windows if w in counted),
        again=tuple(w for w in windows if w not in counted),
    )
