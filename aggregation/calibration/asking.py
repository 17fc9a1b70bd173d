"""What a task's query gives on the devices of a proxy population, before anything is bounded.

The query runs in the sandbox that phones run it in, one device after another, and its rows keep the
same contract: what a fit sees is what phones would bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import UNSET

from aggregation.errors import Problem
from aggregation.ondevice.bounding import Rows
from aggregation.ondevice.events import Event
from aggregation.ondevice.execute import PreparedTask
from aggregation.ondevice.sandbox import QueryFailed
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.part import Floats, Integers
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Window

# By stream, what happened on one device.
Events = Mapping[str, Sequence[Event]]


def asked(task: ClientTask, devices: Iterable[Events], window: Window, catalog: Catalog) -> Rows:
    """The query's results; a device that fails, or has nothing, has no rows."""
    if task.step is not UNSET:
        raise Problem("A task with a built-in step has nothing to calibrate.")
    prepared = _Unbounded(task, catalog)
    results = [prepared.result(events, window) for events in devices]
    offsets = np.cumsum([0, *(len(ranks) for ranks, _ in results)])
    none = np.empty(0, dtype=np.int64), np.empty((0, len(task.metrics)))
    ranks, values = zip(none, *results, strict=True)
    return Rows(offsets, np.concatenate(ranks), np.concatenate(values))


class _Unbounded(PreparedTask):
    """A phone's run of a task that stops before the bound: for proxy data, and nothing else."""

    def result(self, events: Events, window: Window) -> tuple[Integers, Floats]:
        try:
            ranks, values = self._result(events, window)
        except (QueryFailed, ValueError, TypeError):
            return np.empty(0, dtype=np.int64), np.empty((0, self._values))
        finite = np.isfinite(values).all()
        return (ranks, values) if finite else (ranks[:0], values[:0])
