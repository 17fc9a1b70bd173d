"""Events: the rows of a stream as a device's cache hands them over, and their stamped columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

from aggregation.errors import Problem
from aggregation.ondevice.sandbox import Cell, Row, Table
from aggregation.protocol.streams import Stream
from aggregation.protocol.windows import Window

WINDOW_COLUMN = "privacy_time_unit"
_SQLITE_TYPES = {"text": "TEXT", "integer": "INTEGER", "real": "REAL"}


class Event(NamedTuple):
    """One event of a stream."""

    # Seconds since 1970, UTC: places the event in its window, and is never loaded.
    time: float
    # Seconds that local civil time was ahead of UTC, where and when it happened.
    utc_offset: int
    # In the order of `event_columns`.
    values: Row


def event_columns(stream: Stream) -> tuple[str, ...]:
    """The columns an event brings along; the runtime stamps the others."""
    return tuple(c.name for c in stream.columns if not c.stamped and c.queryable)


class StreamLoader:
    """Turns a stream's events into rows of just the columns that a query reads."""

    def __init__(self, stream: Stream, reads: Sequence[str]) -> None:
        own = [name for name in event_columns(stream) if name in reads]
        stamps = [name for name in _STAMPS if name in reads]
        refused = set(reads) - {WINDOW_COLUMN, *own, *stamps}
        if refused:
            raise Problem(
                f"The task reads {stream.name}.{min(refused)}, which no query may read.",
                hint="The device does not run it.",
            )
        names = [WINDOW_COLUMN, *own, *stamps]
        self.table = Table(stream.name, {name: _sqlite_type(stream, name) for name in names})
        self._pick = _picker([event_columns(stream).index(name) for name in own])
        self._stamps = [_STAMPS[name] for name in stamps]

    def rows(self, events: Iterable[Event], window: Window) -> list[Row]:
        """Rows of the events that lie in the window, stamped with it."""
        (start, end), stamp = window.span, window.id
        pick, stamps = self._pick, self._stamps
        if not stamps:
            return [(stamp, *pick(row)) for time, _, row in events if start <= time < end]
        return [
            (stamp, *pick(event.values), *[mark(event) for mark in stamps])
            for event in events
            if start <= event.time < end
        ]


def _picker(places: list[int]) -> Callable[[Row], Row]:
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple(values[place] for place in places)


# Local civil time, so that a morning is a morning everywhere. 1 January 1970 was a Thursday.
_STAMPS: dict[str, Callable[[Event], Cell]] = {
    "hour_of_day": lambda event: int((event.time + event.utc_offset) // 3600 % 24),
    "day_of_week": lambda event: int(((event.time + event.utc_offset) // 86400 + 3) % 7),
}


def _sqlite_type(stream: Stream, name: str) -> str:
    column = stream.column(name)
    if column is None:
        raise Problem(f"The stream {stream.name} has no column {name}.")
    return _SQLITE_TYPES[column.type]
