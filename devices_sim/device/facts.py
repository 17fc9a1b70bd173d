"""Facts about this phone's readiness for one task: made anew at each check-in, never stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from aggregation.protocol.device_facts import DeviceFacts
from aggregation.protocol.windows import Window
from devices_sim.device.event_cache import any_within
from devices_sim.device.state import State
from devices_sim.device.watermarks import distance, window_of

RUNTIME_VERSION: Final = 1


def facts(
    state: State, task: str, windows: Sequence[Window], streams: Iterable[str], *, now: float
) -> DeviceFacts:
    """`windows` are those that wait, the oldest first."""
    return DeviceFacts(
        windows_waiting=len(windows),
        events_waiting=int(any_within(state, streams, windows)),
        windows_since_contribution=_since_contribution(state, task, windows),
        runtime_version=RUNTIME_VERSION,
        install_age_days=max(0, int((now - state.started) // 86_400)),
    )


def _since_contribution(state: State, task: str, windows: Sequence[Window]) -> int | None:
    """How far the newest waiting window is from the newest one that went out or was counted."""
    progress = state.tasks.get(task)
    on_their_way = [p.windows[-1] for p in state.pending if p.task == task]
    newest = max([*on_their_way, progress.counted if progress else ""])
    if not newest or not windows:
        return None
    return distance(windows[-1], window_of(newest, windows[-1].unit))
