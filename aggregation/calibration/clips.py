"""Clip bounds: by a quantile of devices' norms, or the one with the least expected error.

At a fixed quantile, clipping decides the error and more ε hardly helps: the best bound grows
with ε. So the honest rival of any other mechanism is the bound that is searched for its ε.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from aggregation.calibration.expecting import mean_size
from aggregation.calibration.proxy import Proxy, summed
from aggregation.calibration.scales import rounded
from aggregation.calibration.weighing import Weights
from aggregation.protocol.part import Floats

CLIP_QUANTILE: Final = 0.98
# Bounds tried: from the norm that one device in three exceeds to twice the largest.
_BOUNDS: Final = 24
_LEAST_QUANTILE: Final = 2 / 3


def norms_of(proxy: Proxy, sizes: Floats) -> Floats:
    """Each device's L1 once every row is divided by its sizes."""
    scaled = (np.abs(proxy.rows.values) / sizes).sum(axis=1)
    return summed(proxy.owner, scaled, proxy.devices)


def clip_by_quantile(norms: Floats, quantile: float = CLIP_QUANTILE) -> float:
    """Over devices that have anything at all."""
    return rounded(float(np.quantile(norms[norms > 0], quantile)))


def clip_by_grid(proxy: Proxy, weights: Weights, sizes: Floats, *, epsilon: float) -> float:
    """The bound of least expected error: a coarse grid, then a fine one around its best.

    `sizes` are by row, as for `norms_of`.
    """
    norms = norms_of(proxy, sizes)
    some = norms[norms > 0]
    low, high = float(np.quantile(some, _LEAST_QUANTILE)), 2 * float(some.max())
    grid = np.geomspace(low, high, _BOUNDS)
    search = _Search(proxy, weights, sizes, norms, epsilon)
    best = int(np.argmin([search.error(clip) for clip in grid]))
    fine = np.geomspace(grid[max(best - 1, 0)], grid[min(best + 1, _BOUNDS - 1)], 9)
    return rounded(float(min(fine, key=search.error)))


class _Search:
    """The expected error of one clip bound after another, without rounding to the grid."""

    def __init__(
        self, proxy: Proxy, weights: Weights, sizes: Floats, norms: Floats, epsilon: float
    ) -> None:
        self._proxy, self._weights, self._norms = proxy, weights, norms
        cell = np.zeros((len(proxy.seen), len(proxy.metrics)))
        cell[proxy.place] = sizes
        self._unit = cell / epsilon

    def error(self, clip: float) -> float:
        """Only devices above the bound lose anything: the larger it is, the fewer are looked at."""
        proxy = self._proxy
        loses = self._norms > clip
        rows = np.flatnonzero(loses[proxy.owner])
        owner, place = proxy.owner[rows], proxy.place[rows]
        share = 1 - clip / self._norms[owner]
        lost = [
            np.bincount(place, share * column, len(proxy.seen))
            for column in proxy.rows.values[rows].T
        ]
        off = mean_size(np.stack(lost, axis=1), clip * self._unit)
        return self._weights.error(off).mean
