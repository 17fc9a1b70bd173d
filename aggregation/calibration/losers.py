"""The devices that may lose something to the clip, in an order that makes each look at them quick.

Most devices stay far below the bound, whatever a fit tries. They are added up once and left out of
every evaluation, which makes it some ten times quicker; who fits must ask at the end whether any of
them exceeds the bound after all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregation.calibration.scales import Scaled
from aggregation.calibration.weighing import Weights
from aggregation.protocol.part import Floats, Integers


@dataclass(frozen=True, eq=False, repr=False)
class Losers:
    """Their rows in order of slice, and the sums of everybody else."""

    values: Floats
    # Of each row: its device, and its cell among those that count (one more for all others).
    owner: Integers
    place: Integers
    # Slice s has the rows ends[s] to ends[s + 1].
    ends: Integers
    devices: int
    # True sums of everybody else over the cells that count.
    others: Floats

    @property
    def slices(self) -> int:
        return len(self.ends) - 1

    @classmethod
    def of(cls, scaled: Scaled, weights: Weights, *, chosen: NDArray[np.bool_]) -> Losers:
        """`chosen` says of each device whether it is one of them."""
        proxy, slice_of = scaled.proxy, scaled.slice_of
        rows = np.flatnonzero(chosen[proxy.owner])
        rows = rows[np.argsort(slice_of[rows], kind="stable")]
        counted = np.full(len(proxy.seen), len(weights.places))
        counted[weights.places] = np.arange(len(weights.places))
        number = np.cumsum(chosen) - 1
        values, place = proxy.rows.values[rows], counted[proxy.place[rows]]
        mine = _sums(place, values, len(weights.places))
        return cls(
            values=values,
            owner=number[proxy.owner[rows]],
            place=place,
            ends=np.searchsorted(slice_of[rows], np.arange(len(scaled.slicing) + 1)),
            devices=int(chosen.sum()),
            others=weights.truth - mine,
        )

    def clip(self, basis: Floats) -> Clipped:
        encoded = np.empty_like(self.values)
        for s in range(self.slices):
            rows = slice(self.ends[s], self.ends[s + 1])
            np.matmul(self.values[rows], basis[s].T, out=encoded[rows])
        size = np.bincount(self.owner, np.abs(encoded).sum(axis=1), self.devices)
        share = 1 / np.maximum(size, 1.0)
        sums = self.others + _sums(
            self.place, self.values * share[self.owner, None], len(self.others)
        )
        return Clipped(self, encoded, share, sums)


@dataclass(frozen=True, eq=False, repr=False)
class Clipped:
    """What clipping by one basis leaves."""

    losers: Losers
    encoded: Floats
    # What each device keeps.
    share: Floats
    # Clipped sums of all devices over the cells that count.
    sums: Floats

    def slope(self, by_sum: Floats) -> Floats:
        """From the derivative by each clipped sum, that by each basis."""
        mine = self.losers
        padded = np.vstack([by_sum, np.zeros(by_sum.shape[1])])
        by_row = (padded[mine.place] * mine.values).sum(axis=1)
        by_share = np.bincount(mine.owner, by_row, mine.devices)
        # f = 1/t where t > 1, so df/dt = −f²; who keeps all of it keeps it for a while.
        by_size = np.where(self.share < 1, -by_share * self.share**2, 0.0)
        signs = np.sign(self.encoded) * by_size[mine.owner, None]
        spans = zip(mine.ends[:-1].tolist(), mine.ends[1:].tolist(), strict=True)
        return np.stack([signs[a:b].T @ mine.values[a:b] for a, b in spans])


def _sums(place: Integers, values: Floats, count: int) -> Floats:
    columns = [np.bincount(place, column, count + 1)[:count] for column in values.T]
    return np.stack(columns, axis=1)
