"""Settling: what the once-only rule decided about an update, written into the phone's state."""

from __future__ import annotations

from collections.abc import Collection

from aggregation.protocol.streams import Catalog
from devices_sim.device import local_log
from devices_sim.device.once_only import Settle, abandon
from devices_sim.device.state import Pending, State
from devices_sim.device.watermarks import process, window_of

# Task, client task and window, as a check-in lists them.
Listed = Collection[tuple[str, str, str]]


def settle(state: State, pending: Pending, outcome: Settle, *, now: float) -> None:
    """The update is forgotten; each of its windows is processed for good, or goes out again."""
    state.pending = [other for other in state.pending if other is not pending]
    task = state.tasks[pending.task]
    for progress in (task, state.client_tasks[pending.client_task]):
        for window_id in (*outcome.counted, *outcome.given_up):
            process(progress, window_of(window_id, pending.unit))
    for window_id in outcome.again:
        task.again[window_id] = pending.client_task
    # Given up means that it may be counted: for the distance between contributions, it was.
    task.counted = max((task.counted, *outcome.counted, *outcome.given_up))
    _log(state, pending, outcome, now)


def give_up_unlisted(state: State, listed: Listed, *, now: float) -> int:
    """Windows that wait to go out again, but that the server no longer lists; says how many."""
    given_up = 0
    for task, progress in state.tasks.items():
        for window_id, client_task in list(progress.again.items()):
            if (task, client_task, window_id) in listed:
                continue
            for table in (progress, state.client_tasks[client_task]):
                process(table, window_of(window_id, progress.unit))
            progress.counted = max(progress.counted, window_id)
            why = "Its release has begun, so nothing more will be known of it."
            local_log.add(state, now, "given_up", task, windows=(window_id,), why=why)
            given_up += 1
    return given_up


def give_up_outlived(state: State, catalog: Catalog, *, now: float) -> None:
    """Updates whose sessions never end: once the events are gone, there is nothing to wait for."""
    for pending in list(state.pending):
        newest = window_of(pending.windows[-1], pending.unit)
        streams = [stream for name in pending.streams if (stream := catalog.stream(name))]
        days = max((stream.ttl_days for stream in streams), default=0)
        if newest.span[1] + days * 86_400 < now:
            settle(state, pending, abandon(pending.record), now=now)


def forget_closed(state: State) -> None:
    """Tasks that ended long ago: all their windows lie in weeks that the ledger has closed."""
    if not state.budget.floor:
        return
    needed = {p.task for p in state.pending} | {p.client_task for p in state.pending}
    needed |= {sha for progress in state.tasks.values() for sha in progress.again.values()}
    for table in (state.tasks, state.client_tasks):
        for name, progress in list(table.items()):
            # All before the high watermark is processed; of these, each one itself.
            last = max([*progress.done, *progress.again], default="")
            if progress.high <= state.budget.floor > last and name not in needed:
                del table[name]


def _log(state: State, pending: Pending, outcome: Settle, now: float) -> None:
    why = "Whether it was counted is not known, so it is not sent again."
    for kind, windows, reason in (
        ("counted", outcome.counted, ""),
        ("again", outcome.again, "Its session ended without it."),
        ("given_up", outcome.given_up, why),
    ):
        if windows:
            local_log.add(state, now, kind, pending.task, windows=windows, why=reason)
