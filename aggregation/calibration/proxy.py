"""A proxy population: what many devices would contribute to one window, as query results.

It is held in columns and in memory only. Fits read it; nothing of it but fitted numbers leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aggregation.errors import Problem
from aggregation.mechanisms.slices import Slicing
from aggregation.ondevice.bounding import Rows
from aggregation.protocol.part import Floats, Integers
from aggregation.protocol.ranks import Cells


@dataclass(frozen=True, eq=False, repr=False)
class Proxy:
    """Query results of a proxy population; each device has each of its cells once, in order."""

    cells: Cells
    metrics: tuple[str, ...]
    rows: Rows
    # Index of the metric that counts events: cells are weighed by it.
    count: int

    @classmethod
    def of(cls, cells: Cells, metrics: Sequence[str], rows: Rows, *, count: str) -> Proxy:
        """From rows in any order within a device."""
        if count not in metrics:
            raise Problem(
                f"{count!r} is not a metric of the task.", hint=f"It has {', '.join(metrics)}."
            )
        if not len(rows.ranks):
            raise Problem("The proxy data has no device that would contribute anything.")
        if not np.isfinite(rows.values).all():
            raise Problem("The proxy data has a sum that is not a number.")
        return cls(cells, tuple(metrics), _in_order(rows), list(metrics).index(count))

    @property
    def devices(self) -> int:
        return len(self.rows.offsets) - 1

    @cached_property
    def owner(self) -> Integers:
        """The device of each row."""
        return np.repeat(np.arange(self.devices), np.diff(self.rows.offsets))

    @cached_property
    def seen(self) -> Integers:
        """Ranks of the cells that any device has, in order."""
        return self._found[0]

    @cached_property
    def place(self) -> Integers:
        """Of each row, its cell's place in `seen`."""
        return self._found[1]

    @cached_property
    def truth(self) -> Floats:
        """True sums of the cells in `seen`."""
        return self.sums(self.rows.values)

    @cached_property
    def contributors(self) -> Integers:
        """Devices that have each of the cells in `seen`."""
        return np.bincount(self.place, minlength=len(self.seen))

    def sums(self, values: Floats) -> Floats:
        """Rows added up to the cells in `seen`."""
        columns = [np.bincount(self.place, column, len(self.seen)) for column in values.T]
        return np.stack(columns, axis=1)

    def slices(self, by: Sequence[str]) -> tuple[Slicing, Integers]:
        """The slices by these keys, and the one of each row."""
        slicing = Slicing.by(by, self.cells)
        return slicing, slicing.of(self.seen)[self.place]

    @cached_property
    def _found(self) -> tuple[Integers, Integers]:
        seen, place = np.unique(self.rows.ranks, return_inverse=True)
        return seen.astype(np.int64), place

    def __repr__(self) -> str:
        return "Proxy(contents withheld)"


def summed(group: Integers, values: Floats, groups: int) -> Floats:
    """Values added up by group."""
    return np.bincount(group, values, groups).astype(np.float64, copy=False)


def _in_order(rows: Rows) -> Rows:
    """Ranks of each device strictly increasing; what it has twice in a cell is added up."""
    devices = len(rows.offsets) - 1
    owner = np.repeat(np.arange(devices), np.diff(rows.offsets))
    ranks, values = rows.ranks, rows.values
    if ((ranks[1:] > ranks[:-1]) | (owner[1:] != owner[:-1])).all():
        return rows
    order = np.lexsort((ranks, owner))
    owner, ranks, values = owner[order], ranks[order], values[order]
    first = np.ones(len(ranks), dtype=bool)
    first[1:] = (ranks[1:] != ranks[:-1]) | (owner[1:] != owner[:-1])
    offsets = np.zeros(devices + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner[first], minlength=devices), out=offsets[1:])
    return Rows(offsets, ranks[first], np.add.reduceat(values, np.flatnonzero(first), axis=0))
