"""The event cache: what happened on this phone, until its time to live ends.

An event more than its time to live away from the phone's clock, on either side, is purged: one far
ahead was stamped by a clock that was wrong, and would otherwise stay until that day comes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from aggregation.errors import Problem
from aggregation.ondevice.events import Event, event_columns
from aggregation.protocol.streams import Catalog, Column, Stream
from aggregation.protocol.windows import Window
from devices_sim.device.state import State

# Events of one stream; beyond it the oldest go. A phone's memory is not for us to fill.
MAX_EVENTS: Final = 20_000
_DAY: Final = 86_400


def record(state: State, catalog: Catalog, name: str, events: Iterable[Event]) -> int:
    """Keep those events that fit their stream, if its owner agrees; says how many."""
    stream_of(name, catalog)
    if name not in state.consents:
        return 0
    fits = fit_of(name, catalog)
    kept = [event for event in events if fits(event)]
    held = state.events.setdefault(name, [])
    held.extend(kept)
    if len(held) > MAX_EVENTS:
        held.sort(key=lambda event: event.time)
        del held[:-MAX_EVENTS]
    return len(kept)


def purge(state: State, catalog: Catalog, *, now: float) -> None:
    """Drop what has outlived its time, and all of a stream this phone no longer has."""
    for name, held in list(state.events.items()):
        stream = catalog.stream(name)
        ttl = stream.ttl_days * _DAY if stream else -1
        if not all(abs(now - event.time) <= ttl for event in held):
            held[:] = [event for event in held if abs(now - event.time) <= ttl]
        if not held:
            del state.events[name]


def any_within(state: State, streams: Iterable[str], windows: Iterable[Window]) -> bool:
    """Whether any event of these streams lies in any of these windows."""
    spans = [window.span for window in windows]
    return any(
        start <= event.time < end
        for name in streams
        for event in state.events.get(name, ())
        for start, end in spans
    )


def stream_of(name: str, catalog: Catalog) -> Stream:
    stream = catalog.stream(name)
    if stream is None:
        names = ", ".join(each.name for each in catalog)
        raise Problem(f"This phone has no stream {name!r}.", hint=f"It has {names}.")
    return stream


Fit = Callable[[Event], bool]


@lru_cache(maxsize=64)
def fit_of(name: str, catalog: Catalog) -> Fit:
    """Whether an event is one of this stream: its columns, their types, domains and minima."""
    stream = stream_of(name, catalog)
    columns = [column for name in event_columns(stream) if (column := stream.column(name))]
    checks = [misfit_of(column, catalog) for column in columns]
    # Text of a domain needs no more than a look into it; whatever is not there is judged in full.
    domains = [
        frozenset(catalog.domain(c.domain)) if c.domain and c.type == "text" else frozenset()
        for c in columns
    ]

    def fits(event: Event) -> bool:
        if len(event.values) != len(checks) or not math.isfinite(event.time):
            return False
        for value, known, misfit in zip(event.values, domains, checks, strict=True):
            if not (type(value) is str and value in known) and misfit(value):
                return False
        return True

    return fits


_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "text": (str,),
    "integer": (int,),
    "real": (int, float),
}


def misfit_of(column: Column, catalog: Catalog) -> Callable[[object], str]:
    """Says what is wrong with a value of this column; empty if nothing is."""
    kinds = _TYPES[column.type]
    members = frozenset(catalog.domain(column.domain)) if column.domain else None
    minimum = -math.inf if column.minimum is None else column.minimum

    def misfit(value: object) -> str:
        if value is None:
            return "" if column.nullable else "is empty"
        if type(value) not in kinds:
            return f"is not of type {column.type}"
        if members is not None and value not in members:
            return "is not in the column's domain"
        if isinstance(value, int | float) and not minimum <= value < math.inf:
            return f"is not a number from {minimum:g} on"
        return ""

    return misfit
