"""Sums along the keys of a table whose rows are all combinations of their values."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from aggregation.protocol.part import Integers
from aggregation.protocol.ranks import Cells

Number = TypeVar("Number", np.int64, np.float64)


def collapse(table: NDArray[Number], cells: Cells, kept: Collection[str]) -> NDArray[Number]:
    """Rows summed over every key that is not kept; the kept ones stay in their order.

    Integers are exact in any order. Floats are added one value of a key after another, so that
    every machine rounds alike.
    """
    cube = table.reshape(*cells.counts, table.shape[1])
    for axis in reversed(range(len(cells.names))):
        if cells.names[axis] not in kept:
            cube = _sum(cube, axis)
    return cube.reshape(-1, table.shape[1])


def grouped(table: NDArray[Number], cells: Cells, axis: int, group_of: Integers) -> NDArray[Number]:
    """Rows summed over the values of one key that belong to the same group; none is empty."""
    cube = table.reshape(*cells.counts, table.shape[1])
    # Within each group in the order of the key's values.
    order = np.argsort(group_of, kind="stable")
    starts = np.flatnonzero(np.diff(group_of[order], prepend=-1))
    total: NDArray[Number] = np.add.reduceat(cube.take(order, axis=axis), starts, axis=axis)
    return total.reshape(-1, table.shape[1])


def _sum(cube: NDArray[Number], axis: int) -> NDArray[Number]:
    parts = np.moveaxis(cube, axis, 0)
    if cube.dtype == np.int64:
        exact: NDArray[Number] = parts.sum(axis=0)
        return exact
    total: NDArray[Number] = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
