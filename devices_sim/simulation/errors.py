"""The error of a release: its numbers beside what its contributors really did.

What the phones that are in the sum did is known exactly, so two questions have an answer: how far
off the published numbers are, and whether their intervals hold the truth as often as they say.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from devices_sim.fleet.ground_truth import METRICS, CellSums

Floats = NDArray[np.float64]

# Of a total's true value: the half-width of an interval that decides nothing about its being shown.
_SURE: Final = 0.5

# By metric: its place among a cell's units, and how many of those make one.
_COLUMNS: Final = {
    "num_trips": (1, 1),
    **{name: (2 + i, one) for i, (name, one) in enumerate(METRICS["trips"].items())},
}


@dataclass(frozen=True)
class Error:
    """One metric of one release, over the cells that are shown."""

    metric: str
    cells: int
    shown: int
    # Shares of the truth: of the middle cell, and of the release's own total.
    median: float | None
    in_all: float | None
    # Share of the cells' intervals that hold the truth, and whether the total's does. They promise
    # 95 %. A total that noise alone could have kept from being shown does not count: those that
    # are shown are the ones that noise made larger.
    held: float | None
    total_held: bool | None


def errors_of(folder: Path, truth: CellSums) -> list[Error]:
    """`folder`: a release, with every cell in the order of the domains, and the total."""
    file, total = pq.read_table(folder / "cells.parquet"), pq.read_table(folder / "total.parquet")
    names = file.schema.names
    shown = np.array([each is None for each in file.column(names[-1]).to_pylist()])
    found = []
    for metric, (place, one) in _COLUMNS.items():
        if metric in names:
            true = np.zeros(len(shown))
            true[truth.cell] = truth.units[:, place] / one
            value = _numbers(file, metric)
            # Beside each number stands the half-width of its interval.
            width = _numbers(file, names[names.index(metric) + 1])
            cells = _Cells(true[shown], value[shown], width[shown])
            found.append(_error(metric, len(shown), cells, _total(total, metric, true.sum())))
    return found


class _Cells(NamedTuple):
    true: Floats
    value: Floats
    width: Floats

    @property
    def median(self) -> float | None:
        if not len(self.true):
            return None
        return float(np.median(np.abs(self.value - self.true) / np.maximum(self.true, 1e-9)))

    @property
    def held(self) -> float | None:
        return float(self._holds.mean()) if len(self.true) else None

    @property
    def _holds(self) -> NDArray[np.bool_]:
        holds: NDArray[np.bool_] = np.abs(self.value - self.true) <= self.width
        return holds


def _error(metric: str, cells: int, shown: _Cells, total: _Cells) -> Error:
    off = (total.value - total.true) / np.maximum(total.true, 1e-9)
    is_sure = bool((total.width <= _SURE * total.true).all())
    return Error(
        metric=metric,
        cells=cells,
        shown=len(shown.true),
        median=shown.median,
        in_all=float(off[0]) if len(off) else None,
        held=shown.held,
        total_held=bool(total.held) if len(off) and is_sure else None,
    )


def _total(file: pa.Table, metric: str, true: float) -> _Cells:
    """Its one row, if it is shown."""
    value = _numbers(file, metric)
    width = _numbers(file, file.schema.names[file.schema.names.index(metric) + 1])
    shown = ~np.isnan(value)
    return _Cells(np.full(len(value), true)[shown], value[shown], width[shown])


def _numbers(file: pa.Table, name: str) -> Floats:
    """Suppressed ones are not numbers."""
    numbers: Floats = file.column(name).to_numpy().astype(np.float64)
    return numbers
