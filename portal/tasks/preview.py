"""Preview: what a task would do, shown on invented devices before anybody approves it.

It runs the very code that runs later: `ondevice.execute` on each device's events, the aggregation
core over their parts, the mechanism's decoding. Only the events are invented, and no noise is
added, because there is nobody to protect. Nothing of it is stored.
"""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from aggregation.compiler import Compiled
from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.mechanisms import Arithmetic, build_for
from aggregation.ondevice.events import StreamLoader
from aggregation.ondevice.execute import PreparedTask
from aggregation.protocol.part import Floats, Part
from aggregation.protocol.ranks import Cells
from aggregation.protocol.server_config import ServerConfig
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Window
from aggregation.release.tables import published_columns
from portal.tasks.editor_synthetic import Cell, CountryOf, Synthetic

DEVICES = 3
CROWD = 200
_EVENTS_SHOWN = 8
_ROWS_SHOWN = 12
# Cells × metrics that are summed for a preview: 8 bytes each, for a moment.
MOST_STATISTICS = 12_000_000


@dataclass(frozen=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    # Rows that are not shown.
    more: int = 0


@dataclass(frozen=True)
class UpdateRow:
    """One row of a bounded update: the cell, what counts after bounding, and the grid units."""

    keys: tuple[Cell, ...]
    values: tuple[float, ...]
    units: tuple[int, ...]

    @property
    def pairs(self) -> list[tuple[float, int]]:
        return list(zip(self.values, self.units, strict=True))


@dataclass(frozen=True)
class Device:
    number: int
    # Stream → the rows its query reads.
    events: dict[str, Table]
    rows: tuple[UpdateRow, ...]
    # How much of the bound the update uses, 0 to 1.
    used: float
    # Its contribution was larger than the bound, and was scaled down to it.
    is_clipped: bool


@dataclass(frozen=True)
class Preview:
    window: Window
    keys: tuple[str, ...]
    metrics: tuple[str, ...]
    devices: tuple[Device, ...]
    crowd: int
    clipped: int
    # What would be published of the crowd, without noise and without suppression; nothing where
    # the task declares more cells than a preview adds up.
    result: Table | None
    cells: int


def preview(
    compiled: Compiled, catalog: Catalog, *, now: datetime, country_of: CountryOf
) -> Preview:
    """Run a task on an invented crowd, in the last complete window."""
    task = compiled.client_task
    window = Window.containing(now, task.window_unit).previous()
    run = _Run(compiled, catalog, window, country_of)
    parts = [run.part(number) for number in range(CROWD)]
    return Preview(
        window=window,
        keys=run.cells.names,
        metrics=task.metrics,
        devices=tuple(run.device(number, parts[number]) for number in _telling(parts)),
        crowd=CROWD,
        clipped=sum(is_clipped(run.arithmetic, part) for part in parts),
        result=run.result(parts),
        cells=run.cells.size,
    )


def _telling(parts: list[Part]) -> list[int]:
    """The devices that are shown: the first few that have something to send."""
    order = sorted(range(len(parts)), key=lambda number: len(parts[number].ranks) == 0)
    return sorted(order[:DEVICES])


def is_clipped(arithmetic: Arithmetic, part: Part) -> bool:
    """Whether a part reached its bound, in any share of it.

    Bounding scales what is too large to K − z/2 − 1 units before rounding, z being its nonzero
    values, and leaves the rest as it is; rounding moves the sum by at most z/2.
    """
    groups = arithmetic.clip_groups(part.ranks)
    group = np.zeros(part.values.size, dtype=np.int64) if groups is None else groups.ravel()
    size = np.bincount(group, np.abs(part.values).ravel(), minlength=1)
    nonzero = np.bincount(group, (part.values != 0).ravel(), minlength=1)
    return bool((size[nonzero > 0] >= (arithmetic.units - nonzero - 1)[nonzero > 0]).any())


class _Run:
    def __init__(
        self, compiled: Compiled, catalog: Catalog, window: Window, country_of: CountryOf
    ) -> None:
        self.task, self.config = compiled.client_task, compiled.server_config
        self.cells = Cells.of(self.task.keys, catalog.domain)
        self.arithmetic = build_for(self.task.mechanism, self.cells, self.task.metrics)
        self._prepared = PreparedTask(self.task, catalog)
        self._synthetic = Synthetic(self.task, catalog, window, country_of=country_of)
        self._window = window
        self._loaders = {
            name: StreamLoader(stream, reads)
            for name, reads in self.task.reads.items()
            if (stream := catalog.stream(name)) is not None
        }

    def part(self, number: int) -> Part:
        return self._prepared.execute(self._synthetic.events(number), self._window)

    def device(self, number: int, part: Part) -> Device:
        events = self._synthetic.events(number)
        tables = {}
        for name, loader in self._loaders.items():
            rows = list(loader.rows(events.get(name, ()), self._window))
            shown = tuple(row[1:] for row in rows[:_EVENTS_SHOWN])  # the window is above them all
            tables[name] = Table(tuple(loader.table.columns)[1:], shown, len(rows) - len(shown))
        return Device(
            number=number + 1,
            events=tables,
            rows=tuple(self._update_rows(part)),
            used=float(np.abs(part.values).sum()) / self.arithmetic.sensitivity,
            is_clipped=is_clipped(self.arithmetic, part),
        )

    def _update_rows(self, part: Part) -> list[UpdateRow]:
        values = self.arithmetic.decode_cells(part.ranks, part.values)
        return [
            UpdateRow(self.cells.values(int(rank)), tuple(row), tuple(units))
            for rank, row, units in zip(
                part.ranks, values.tolist(), part.values.tolist(), strict=True
            )
        ]

    def result(self, parts: list[Part]) -> Table | None:
        if self.cells.size * len(self.task.metrics) > MOST_STATISTICS:
            return None
        core = GroupBySum(Params.of(self.config).without_threshold())
        for part in parts:
            core.accumulate(part)
        sums = core.report().sums
        ranks = np.flatnonzero(sums.any(axis=1))
        values = self.arithmetic.decode_cells(ranks, sums[ranks])
        order = np.argsort(-values[:, 0], kind="stable")[:_ROWS_SHOWN]
        columns = published_columns(self.config)
        rows = tuple(
            (*self.cells.values(int(ranks[at])), *_published(self.config, values[at]))
            for at in order
        )
        return Table((*self.cells.names, *columns), rows, len(ranks) - len(rows))


def _published(config: ServerConfig, values: Floats) -> list[Cell]:
    known: dict[str, Cell] = dict(zip(config.metrics, values.tolist(), strict=True))
    for derived in config.derived:
        top, bottom = known[derived.numerator], known[derived.denominator]
        assert isinstance(top, float) and isinstance(bottom, float)  # noqa: PT018, S101
        known[derived.name] = derived.factor * top / bottom if bottom else None
    return [known[column] for column in published_columns(config)]
