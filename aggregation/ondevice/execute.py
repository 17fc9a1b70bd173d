"""Execute: one client task over one window of one device's events → a bounded part.

The query runs once per window, over events of that window only, and the runtime stamps the
window itself: no query can move an event to another window or hide that it did. Each window is
bounded on its own, as the guarantee is per (device, window).

Where the task has a built-in step, it turns the query's rows into those that are bounded (`step`).

The output contract. A row whose keys lie outside their domains, or that names another window, is
dropped. Rows of one cell are summed, because the server's query sums all rows of all devices.
NULL metrics count as nothing, as in SQL's SUM. Anything else (text or blobs as metrics, infinities,
more rows than there are cells) is the zero update. So is every error and every time-out, silently
and in the same shape: whether a query failed on a device would tell about its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import UNSET

from aggregation.errors import Problem
from aggregation.mechanisms import build_for
from aggregation.ondevice.bounding import bound_one
from aggregation.ondevice.events import Event, StreamLoader
from aggregation.ondevice.sandbox import QueryFailed, Row, Sandbox
from aggregation.ondevice.step import prepared_step
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.part import Floats, Integers, Part
from aggregation.protocol.ranks import Cells
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Window


def execute(
    task: ClientTask, events: Mapping[str, Sequence[Event]], window: Window, catalog: Catalog
) -> Part:
    """What this device contributes to this window. To run a task often, keep a `PreparedTask`."""
    return PreparedTask(task, catalog).execute(events, window)


class PreparedTask:
    """A client task made ready for a device: its tables, its sandbox, its mechanism's arrays.

    Made with a `Problem` where this device does not have what the task reads.
    """

    def __init__(self, task: ClientTask, catalog: Catalog) -> None:
        self._loaders = _loaders(task, catalog)
        made = Cells.of(task.keys, catalog.domain)
        self._arithmetic = build_for(task.mechanism, made, task.metrics)
        self._max_rows = task.max_rows
        self._unit = task.window_unit
        self._metrics = len(task.metrics)
        step = task.step
        # The cells and columns of the query, which a step makes into those of the task.
        self._cells = made if step is UNSET else Cells.of(step.keys, catalog.domain)
        self._values = self._metrics if step is UNSET else len(step.metrics)
        self._step = None if step is UNSET else prepared_step(task, step, self._cells)
        self._columns = len(self._cells.names) + 1 + self._values
        tables = [loader.table for loader in self._loaders.values()]
        self._sandbox = Sandbox(tables, task.sql, max_rows=_most_rows(self._cells))

    def execute(self, events: Mapping[str, Sequence[Event]], window: Window) -> Part:
        """A bounded part, whatever happens; streams without events may be left out."""
        if window.unit is not self._unit:
            raise Problem(f"{window.id} is a {window.unit} window; the task has {self._unit}s.")
        try:
            ranks, values = self._result(events, window)
            return bound_one(self._arithmetic, ranks, values, max_rows=self._max_rows)
        except Exception:  # a crash would be an answer too: silence is part of the contract
            return Part.zero(self._metrics)

    def _result(
        self, events: Mapping[str, Sequence[Event]], window: Window
    ) -> tuple[Integers, Floats]:
        rows = {
            name: loader.rows(events.get(name, ()), window)
            for name, loader in self._loaders.items()
        }
        found = self._sandbox.run(rows, columns=self._columns)
        ranks, values = self._contract(found, window.id)
        return self._step.rows(ranks, values) if self._step else (ranks, values)

    def _contract(self, found: list[Row], window_id: str) -> tuple[Integers, Floats]:
        """Cells in order of rank, and their metric values, of rows that keep the contract."""
        keys = len(self._cells.names)
        cells: dict[int, list[float]] = {}
        for row in found:
            rank = self._cells.rank(row[:keys])
            if rank >= 0 and row[keys] == window_id:
                numbers = [_number(cell) for cell in row[keys + 1 :]]
                cells[rank] = _added(cells[rank], numbers) if rank in cells else numbers
        ranks = sorted(cells)
        values = np.array([cells[rank] for rank in ranks], dtype=np.float64)
        return np.array(ranks, dtype=np.int64), values.reshape(len(ranks), self._values)


def _loaders(task: ClientTask, catalog: Catalog) -> dict[str, StreamLoader]:
    loaders = {}
    for name, reads in task.reads.items():
        stream = catalog.stream(name)
        if stream is None or task.streams.get(name) != stream.sha256:
            raise Problem(f"This device does not have the stream {name} as the task knows it.")
        loaders[name] = StreamLoader(stream, reads)
    return loaders


def _most_rows(cells: Cells) -> int:
    """Rows of an honest result: one per cell, counting NULL as one more value of each key."""
    total = 1
    for count in cells.counts:
        total *= count + 1
    return total


def _number(cell: object) -> float:
    if cell is None:
        return 0.0
    if type(cell) is int or type(cell) is float:
        return float(cell)
    raise QueryFailed


def _added(left: list[float], right: list[float]) -> list[float]:
    return [a + b for a, b in zip(left, right, strict=True)]
