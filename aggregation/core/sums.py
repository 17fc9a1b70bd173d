"""Integer sums by cell: only touched cells while they are few, all cells once they are many.

While only touched cells are held, new rows wait beside the sums and are added many at a time: one
sort for thousands of rows takes a third of what looking up each of them does. What waits is of the
same kind as a sum in which most cells hold one device: it is as secret, and never leaves as it is.
"""

from __future__ import annotations

import numpy as np

from aggregation.protocol.part import Integers, Ranks

# Up to this many cells it is cheapest to hold them all from the start.
_SMALL = 4096
# One touched cell in so many, and holding all takes less memory than holding the touched ones.
_DENSITY = 8
# Rows that wait at the most, or as many as there are sums, so that each is sorted a few times. With
# three metrics they take 2 MB, and a session of 10,000 devices sorts them about once.
_WAITING = 65_536


class Sums:
    """Exact int64 sums. The caller sees to head-room: no sum may reach 2^63."""

    def __init__(self, *, cells: int, metrics: int) -> None:
        self._cells = cells
        self._metrics = metrics
        # Touched cells in the order of their ranks, one row of `_values` each; nothing once all
        # cells are held.
        self._ranks: Ranks | None = None if cells <= _SMALL else np.empty(0, dtype=np.uint32)
        self._values = _zeros(cells if self._ranks is None else 0, metrics)
        self._waiting: list[tuple[Ranks, Integers]] = []
        self._rows_waiting = 0

    @property
    def touched(self) -> int:
        """How many cells are held."""
        self._settle()
        return len(self._values)

    @property
    def is_dense(self) -> bool:
        self._settle()
        return self._ranks is None

    def add(self, ranks: Ranks, values: Integers) -> None:
        """Add rows to cells; a cell may come more than once."""
        if len(ranks) != len(values):
            raise ValueError
        if self._ranks is None:
            _add_rows(self._values, ranks, values)
        elif len(ranks):
            # Copied: what was given may be part of something larger, or change.
            self._waiting.append((ranks.copy(), values.copy()))
            self._rows_waiting += len(ranks)
            if self._rows_waiting > max(_WAITING, len(self._ranks)):
                self._settle()

    def add_sums(self, other: Sums) -> None:
        if other.is_dense:
            self.add_all(other._values)
        else:
            self.add(*other.sparse())

    def add_all(self, values: Integers) -> None:
        """Add one row to every cell of the domain."""
        if len(values) != self._cells:
            raise ValueError
        self.dense()
        self._values += values

    def sparse(self) -> tuple[Ranks, Integers]:
        """Touched cells in the order of their ranks, which says nothing about who came first."""
        self._settle()
        if self._ranks is None:
            return np.arange(self._cells, dtype=np.uint32), self._values
        return self._ranks, self._values

    def dense(self) -> Integers:
        """One row per cell of the domain."""
        self._settle()
        if self._ranks is not None:
            self._spread(self._ranks)
        return self._values

    def _settle(self) -> None:
        """Add what waits."""
        if self._ranks is None or not self._waiting:
            return
        ranks = np.concatenate([self._ranks, *(ranks for ranks, _ in self._waiting)])
        values = np.concatenate([self._values, *(values for _, values in self._waiting)])
        self._waiting, self._rows_waiting = [], 0
        order = np.argsort(ranks)
        ranks = ranks[order]
        firsts = np.flatnonzero(np.concatenate([[True], ranks[1:] != ranks[:-1]]))
        self._ranks = ranks[firsts]
        self._values = np.add.reduceat(values[order], firsts, axis=0)
        if len(firsts) * _DENSITY > self._cells:
            self._spread(self._ranks)

    def _spread(self, ranks: Ranks) -> None:
        values, self._values = self._values, _zeros(self._cells, self._metrics)
        self._values[ranks] = values
        self._ranks = None


def _add_rows(sums: Integers, places: Ranks, rows: Integers) -> None:
    """`np.add.at(sums, places, rows)`, several times as fast for being flat."""
    metrics = sums.shape[1]
    flat = places.astype(np.int64)[:, None] * metrics + np.arange(metrics)
    np.add.at(sums.reshape(-1), flat.ravel(), rows.ravel())


def _zeros(rows: int, metrics: int) -> Integers:
    return np.zeros((rows, metrics), dtype=np.int64)
