"""Parts: what one device contributes to one window, as bounded integers on numbered cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.uint32]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Part:
    """One device's contribution to one window. The zero update has no rows."""

    # Strictly increasing cell ranks.
    ranks: Ranks
    # One row of grid units per rank, one column per metric.
    values: Integers

    @classmethod
    def zero(cls, metrics: int) -> Part:
        return cls(np.empty(0, dtype=np.uint32), np.empty((0, metrics), dtype=np.int64))

    def __repr__(self) -> str:
        return "Part(contents withheld)"


@dataclass(frozen=True, eq=False, repr=False)
class Parts:
    """Many devices' parts for one window, one after another: a ragged batch."""

    # Device i has the rows offsets[i] to offsets[i + 1].
    offsets: Integers
    ranks: Ranks
    values: Integers

    @classmethod
    def of(cls, parts: Sequence[Part], *, metrics: int) -> Parts:
        offsets = np.zeros(len(parts) + 1, dtype=np.int64)
        np.cumsum([len(part.ranks) for part in parts], out=offsets[1:])
        zero = Part.zero(metrics)
        ranks = np.concatenate([zero.ranks, *(part.ranks for part in parts)])
        values = np.concatenate([zero.values, *(part.values for part in parts)])
        return cls(offsets, ranks, values)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, device: int) -> Part:
        rows = slice(int(self.offsets[device]), int(self.offsets[device + 1]))
        return Part(self.ranks[rows], self.values[rows])

    def __repr__(self) -> str:
        return "Parts(contents withheld)"
