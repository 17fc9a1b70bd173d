"""The event cache: what happened on this phone, until its time to live ends.

An event more than its time to live away from the phone's clock, on either side, is purged: one far
ahead was stamped by a clock that was wrong, and would otherwise stay until that day comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from aggregation.ondevice.events import Event
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Window
from devices_sim.device.fitting import fit_of, stream_of
from devices_sim.device.state import State

# Events of one stream; beyond it the oldest go. A phone's memory is not for us to fill.
MAX_EVENTS: Final = 20_000
_DAY: Final = 86_400
_TIME: Final = attrgetter("time")


def record(state: State, catalog: Catalog, name: str, events: Iterable[Event]) -> int:
    """Keep those events that fit their stream, if its owner agrees; says how many."""
    stream_of(name, catalog)
    if name not in state.consents:
        return 0
    kept = fit_of(name, catalog).of(events)
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
        times = list(map(_TIME, held))
        if times and (now - min(times) > ttl or max(times) - now > ttl):
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
