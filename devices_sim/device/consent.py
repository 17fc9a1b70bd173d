"""Consent: a person opts in to each stream, and can take it back at any moment.

Nothing is recorded or contributed without it. Only windows that began after the consent are run:
the ones before were not watched in full. Opting out purges the stream's events and the updates on
their way that were made from them. What the phone remembers about windows stays: a window that may
have been counted must not be contributed again by someone who opts in once more.
"""

from __future__ import annotations

from collections.abc import Iterable

from devices_sim.device import local_log, settling
from devices_sim.device.once_only import abandon
from devices_sim.device.state import State


def opt_in(state: State, stream: str, *, now: float) -> None:
    if stream not in state.consents:
        state.consents[stream] = now
        local_log.add(state, now, "opted_in", stream)


def opt_out(state: State, stream: str, *, now: float) -> None:
    if state.consents.pop(stream, None) is None:
        return
    state.events.pop(stream, None)
    for pending in [p for p in state.pending if stream in p.streams]:
        settling.settle(state, pending, abandon(pending.record), now=now)
    local_log.add(state, now, "opted_out", stream)


def missing(state: State, streams: Iterable[str]) -> str:
    """The first of these streams that its owner has not opted in to; empty if none."""
    return next((name for name in sorted(streams) if name not in state.consents), "")


def since(state: State, streams: Iterable[str]) -> float:
    """The moment from which on this phone has watched all of these streams."""
    return max((state.started, *(state.consents.get(name, state.started) for name in streams)))
