"""Running: a client task over each of its windows apart, into one sealed update, stored.

The query runs once per window over that window's events, and is bounded per window; a window
without events, a failing query and a slow one all give the zero part. So an update's length and
its existence tell nothing about what is in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aggregation.ondevice.events import Event
from aggregation.protocol.messages import Assigned
from aggregation.protocol.sealing import seal
from aggregation.protocol.update import pack
from aggregation.protocol.windows import Window
from devices_sim.device import budget
from devices_sim.device.considering import day_of, runs_today
from devices_sim.device.library import Known
from devices_sim.device.once_only import Stage
from devices_sim.device.state import Pending, Progress, State
from devices_sim.device.wake_up import Deadline


@dataclass(frozen=True)
class Work:
    """A verified assignment, and the windows to run for it."""

    assigned: Assigned
    known: Known
    # The oldest first.
    windows: Sequence[Window]
    # Those among them that were never run, and cost ε.
    unpaid: Sequence[Window]


def update_of(work: Work, events: Mapping[str, Sequence[Event]], deadline: Deadline) -> bytes:
    """The sealed update. Only its session can open it, and only under this update id."""
    parts = {}
    for window in work.windows:
        deadline.check()
        parts[window] = work.known.prepared.execute(events, window)
    assigned = work.assigned
    return seal(
        pack(parts, work.known.shape),
        public=bytes.fromhex(assigned.public_key),
        client_task=assigned.client_task,
        session=assigned.session,
        update=assigned.update,
    )


def store(state: State, work: Work, sealed: bytes, *, now: float) -> Pending:
    """Everything that must be true before the first byte leaves; it is saved and sent next."""
    assigned, known = work.assigned, work.known
    for window in work.unpaid:
        budget.charge(state.budget, known.streams, window, known.price)
    oldest = work.windows[0]
    task = state.tasks.setdefault(assigned.task, Progress(oldest.unit, high=oldest.id))
    # Going out again is no run: it was one, and has been paid for.
    task.runs, task.day = runs_today(state, assigned.task, now) + bool(work.unpaid), day_of(now)
    state.client_tasks.setdefault(assigned.client_task, Progress(oldest.unit, high=oldest.id))
    pending = Pending(
        task=assigned.task,
        client_task=assigned.client_task,
        session=assigned.session,
        update=assigned.update,
        token=assigned.token,
        unit=oldest.unit,
        windows=tuple(window.id for window in work.windows),
        streams=known.streams,
        stage=Stage.STORED,
        sealed=sealed,
    )
    state.pending.append(pending)
    return pending
