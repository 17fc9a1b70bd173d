"""Slices: the groups of cells that share a mechanism's parameters, such as all cells of driving."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregation.protocol.anonymization import Scales
from aggregation.protocol.part import Floats, Integers
from aggregation.protocol.ranks import Cells

# The one slice when there are no columns to slice by.
WHOLE = "all"


@dataclass(frozen=True)
class Slicing:
    """Which slice each cell belongs to. Slices are numbered in the order of their columns."""

    names: tuple[str, ...]
    # Per column: its stride in the cell's rank, its count, its stride in the slice's number.
    _places: tuple[tuple[int, int, int], ...]

    @classmethod
    def by(cls, columns: Sequence[str], cells: Cells) -> Slicing:
        return cls(tuple(slice_names(columns, cells)), _places(columns, cells))

    def __len__(self) -> int:
        return len(self.names)

    def of(self, ranks: NDArray[np.integer]) -> Integers:
        """The slice number of each cell."""
        wide = ranks.astype(np.int64, copy=False)
        if len(self._places) == 1:
            [(stride, count, _)] = self._places
            return wide // stride % count
        total = np.zeros(len(wide), dtype=np.int64)
        for stride, count, weight in self._places:
            total += wide // stride % count * weight
        return total


def scale_array(scales: Scales, slicing: Slicing, metrics: Sequence[str]) -> Floats:
    """Scales by slice (first axis) and metric (second)."""
    return np.array([[scales[name][metric] for metric in metrics] for name in slicing.names])


def slice_count(columns: Sequence[str], cells: Cells) -> int:
    total = 1
    for column in columns:
        total *= cells.counts[cells.names.index(column)]
    return total


def slice_names(columns: Sequence[str], cells: Cells) -> list[str]:
    """Names of all slices: key values joined with a slash, in the order of the columns."""
    if not columns:
        return [WHOLE]
    domains = [cells.domains[cells.names.index(column)] for column in columns]
    return ["/".join(map(str, values)) for values in itertools.product(*domains)]


def _places(columns: Sequence[str], cells: Cells) -> tuple[tuple[int, int, int], ...]:
    places: list[tuple[int, int, int]] = []
    weight = 1
    for column in reversed(columns):
        at = cells.names.index(column)
        places.append((cells.strides[at], cells.counts[at], weight))
        weight *= cells.counts[at]
    return tuple(reversed(places))
