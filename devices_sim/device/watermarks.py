"""Watermarks: which windows a phone may still run, whatever became of its clock.

The low watermark is the phone's time rounded down to the window unit: what begins there is not
complete. The high watermark is stored and only goes up; from it on, each processed window is
remembered by name. A window is run if it lies between the two, is not processed, is not on its
way, and is on the server's list of open ones. Setting the clock back makes fewer windows complete
and none unprocessed; setting it forward makes none open that the server does not list.

All of it holds per task and again per client task: a task under a new name does not get what its
client task already had, nor does a new revision get a window of the one before it.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from aggregation.errors import Problem
from aggregation.protocol.windows import Unit, Window
from devices_sim.device.state import Progress, State

# Processed windows remembered beyond the high watermark; with more, it moves over the gap.
MAX_DONE: Final = 64


def waiting(
    state: State, listed: Sequence[Window], *, task: str, client_task: str, now: float
) -> list[Window]:
    """Of the windows the server lists as open, in their order, those this phone may run now."""
    mine, its = state.tasks.get(task), state.client_tasks.get(client_task)
    on_their_way = {
        window
        for pending in state.pending
        if pending.task == task or pending.client_task == client_task
        for window in pending.windows
    }
    return [
        window
        for window in listed
        if window.span[1] <= now
        and window.span[0] >= state.started
        and window.id not in on_their_way
        and not is_processed(mine, window)
        and not is_processed(its, window)
        and not _stays_with_another(mine, window, client_task)
    ]


def is_processed(progress: Progress | None, window: Window) -> bool:
    if progress is None:
        return False
    # Ids of one unit sort as their windows do.
    return window.id < progress.high or window.id in progress.done


def was_run(state: State, task: str, window: Window) -> bool:
    """Whether this window was run before and goes out again: it has been paid for."""
    progress = state.tasks.get(task)
    return progress is not None and window.id in progress.again


def process(progress: Progress, window: Window) -> None:
    """This window is never run again."""
    progress.again.pop(window.id, None)
    if not is_processed(progress, window):
        insort(progress.done, window.id)
    if len(progress.done) > MAX_DONE:
        progress.high = progress.done[0]
    while progress.done and progress.done[0] <= progress.high:
        progress.high = max(progress.high, window_of(progress.done.pop(0), progress.unit).next().id)
    for passed in [w for w in progress.again if w < progress.high]:
        del progress.again[passed]


def distance(left: Window, right: Window) -> int:
    """How many windows lie between the starts of two of the same unit."""
    if left.unit is Unit.MONTH:
        months = (left.start.year - right.start.year) * 12 + left.start.month - right.start.month
        return abs(months)
    return int(abs(left.start - right.start) / (left.end - left.start))


@lru_cache(maxsize=4096)
def window_of(window_id: str, unit: Unit) -> Window:
    return Window.parse(window_id, unit)


@lru_cache(maxsize=1024)
def windows_of(ids: tuple[str, ...], unit: Unit) -> tuple[Window, ...] | None:
    """The windows of a server's list, each once, the oldest first; nothing if any id is none."""
    try:
        return tuple(sorted({window_of(each, unit) for each in ids}))
    except Problem:
        return None


def _stays_with_another(progress: Progress | None, window: Window, client_task: str) -> bool:
    return progress is not None and progress.again.get(window.id, client_task) != client_task
