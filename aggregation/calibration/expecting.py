"""What error to expect: clip loss by the code that phones run, noise by its exact mean size.

A released value is off by B + Z: B is what clipping took (less what the correction gave back), Z
the noise. For Laplace noise of mean size b, E|B + Z| = b·φ(B/b) with φ(u) = |u| + exp(−|u|). Where
the noise mixes several draws (a rotated basis) this is close, and errs by less than 1 %.
"""

from __future__ import annotations

import numpy as np

from aggregation.calibration.proxy import Proxy
from aggregation.calibration.weighing import Error, Weights
from aggregation.mechanisms import build_for
from aggregation.mechanisms.interface import Arithmetic
from aggregation.ondevice.bounding import Rows, bound
from aggregation.protocol.anonymization import Mechanism
from aggregation.protocol.part import Floats, Integers

# Devices bounded at a time, so that memory does not grow with the population.
_DEVICES = 1 << 17


def expected_error(
    mechanism: Mechanism, proxy: Proxy, weights: Weights, *, epsilon: float, max_rows: int
) -> Error:
    """The weighted relative error that a release of this population would have, on average."""
    arithmetic = build_for(mechanism, proxy.cells, proxy.metrics)
    kept = arithmetic.decode_cells(proxy.seen, bounded_sums(arithmetic, proxy, max_rows=max_rows))
    noise = arithmetic.noise(epsilon=epsilon).mean_abs
    size = noise[arithmetic.slicing.of(proxy.seen)] if len(noise) > 1 else noise
    return weights.error(mean_size(kept - proxy.truth, size))


def bounded_sums(arithmetic: Arithmetic, proxy: Proxy, *, max_rows: int) -> Integers:
    """Sums of bounded contributions over the cells in `seen`: whole grid units, without noise."""
    total = np.zeros((len(proxy.seen), len(proxy.metrics)), dtype=np.int64)
    for first in range(0, proxy.devices, _DEVICES):
        parts = bound(arithmetic, _some(proxy.rows, first), max_rows=max_rows)
        place = np.searchsorted(proxy.seen, parts.ranks)
        for metric, column in enumerate(parts.values.T):
            # Exact: whole numbers below 2^53.
            total[:, metric] += np.bincount(place, column, len(proxy.seen)).astype(np.int64)
    return total


def mean_size(bias: Floats, noise: Floats) -> Floats:
    """E|B + Z| for Laplace Z of this mean size."""
    size = np.abs(bias)
    expected: Floats = size + noise * np.exp(-size / noise)
    return expected


def _some(rows: Rows, first: int) -> Rows:
    offsets = rows.offsets[first : first + _DEVICES + 1]
    span = slice(int(offsets[0]), int(offsets[-1]))
    return Rows(offsets - offsets[0], rows.ranks[span], rows.values[span])
