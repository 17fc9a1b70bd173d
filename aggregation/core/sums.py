"""Integer sums by cell: only touched cells while they are few, all cells once they are many."""

from __future__ import annotations

import numpy as np

from aggregation.protocol.part import Integers, Ranks

# Up to this many cells it is cheapest to hold them all from the start.
_SMALL = 4096
# One touched cell in so many, and holding all takes less memory than holding the touched ones.
_DENSITY = 8


class Sums:
    """Exact int64 sums. The caller sees to head-room: no sum may reach 2^63."""

    def __init__(self, *, cells: int, metrics: int) -> None:
        self._cells = cells
        self._metrics = metrics
        # Touched rank → its row in `_values`; nothing once all cells are held.
        self._rows: dict[int, int] | None = None if cells <= _SMALL else {}
        self._values = _zeros(cells if self._rows is None else 64, metrics)

    @property
    def touched(self) -> int:
        """How many cells are held."""
        return self._cells if self._rows is None else len(self._rows)

    @property
    def is_dense(self) -> bool:
        return self._rows is None

    def add(self, ranks: Ranks, values: Integers) -> None:
        """Add rows to cells; a cell may come more than once."""
        if len(ranks) != len(values):
            raise ValueError
        if self._rows is None:
            np.add.at(self._values, ranks, values)
        else:
            rows = self._rows
            places = [rows.setdefault(rank, len(rows)) for rank in ranks.tolist()]
            self._make_room(len(rows))
            np.add.at(self._values, places, values)
            if len(rows) * _DENSITY > self._cells:
                self._spread()

    def add_sums(self, other: Sums) -> None:
        if other._rows is None:
            self.add_all(other._values)
        else:
            self.add(*other.sparse())

    def add_all(self, values: Integers) -> None:
        """Add one row to every cell of the domain."""
        if len(values) != self._cells:
            raise ValueError
        if self._rows is not None:
            self._spread()
        self._values += values

    def sparse(self) -> tuple[Ranks, Integers]:
        """Touched cells in the order of their ranks, which says nothing about who came first."""
        if self._rows is None:
            return np.arange(self._cells, dtype=np.uint32), self._values
        ranks = np.fromiter(self._rows, dtype=np.uint32, count=len(self._rows))
        order = np.argsort(ranks)
        return ranks[order], self._values[: len(ranks)][order]

    def dense(self) -> Integers:
        """One row per cell of the domain."""
        if self._rows is not None:
            self._spread()
        return self._values

    def _make_room(self, rows: int) -> None:
        if rows > len(self._values):
            more = _zeros(max(rows, len(self._values)), self._metrics)
            self._values = np.concatenate([self._values, more])

    def _spread(self) -> None:
        ranks, values = self.sparse()
        self._values = _zeros(self._cells, self._metrics)
        self._values[ranks] = values
        self._rows = None


def _zeros(rows: int, metrics: int) -> Integers:
    return np.zeros((rows, metrics), dtype=np.int64)
