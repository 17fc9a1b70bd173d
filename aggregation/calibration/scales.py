"""Scales S(a,m): what 95 of 100 devices stay below, of those that have the slice at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aggregation.calibration.proxy import Proxy
from aggregation.mechanisms.slices import Slicing
from aggregation.protocol.anonymization import Scales
from aggregation.protocol.part import Floats, Integers

# The paper's.
SCALE_QUANTILE: Final = 0.95
# Devices that a slice has at least. Of fewer, the 95 % quantile is the largest of them: it would
# say little of the others, and hand one device's own number to everybody.
FEWEST: Final = 20


@dataclass(frozen=True, eq=False, repr=False)
class Scaled:
    """A proxy population and the scales of its slices."""

    proxy: Proxy
    by: tuple[str, ...]
    slicing: Slicing
    # The slice of each row.
    slice_of: Integers
    # By slice (first axis) and metric.
    sizes: Floats
    # Which slices have devices enough to be told by themselves.
    is_known: NDArray[np.bool_]

    @classmethod
    def of(cls, proxy: Proxy, by: Sequence[str], *, quantile: float = SCALE_QUANTILE) -> Scaled:
        slicing, slice_of = proxy.slices(by)
        found = _quantiles(proxy, slice_of, len(slicing), quantile)
        is_known: NDArray[np.bool_] = ~np.isnan(found[:, 0])
        return cls(proxy, tuple(by), slicing, slice_of, _filled(found), is_known)

    @property
    def by_row(self) -> Floats:
        """The scales that each row is divided by."""
        return self.sizes[self.slice_of]

    @property
    def named(self) -> Scales:
        """As a spec writes them."""
        return {
            name: {
                metric: rounded(size) for metric, size in zip(self.proxy.metrics, row, strict=True)
            }
            for name, row in zip(self.slicing.names, self.sizes.tolist(), strict=True)
        }


def rounded(value: float) -> float:
    """Three digits: more would claim to know more."""
    return float(f"{value:.3g}")


def _quantiles(proxy: Proxy, slice_of: Integers, slices: int, quantile: float) -> Floats:
    """Of a device's L1 in each slice, over devices that have it; NaN where too few do."""
    found = np.full((slices, len(proxy.metrics)), np.nan)
    for number in np.unique(slice_of).tolist():
        norms = _norms(proxy, slice_of == number)
        if len(norms) >= FEWEST:
            found[number] = np.quantile(norms, quantile, axis=0)
    return found


def _filled(found: Floats) -> Floats:
    """A slice that too few have, or a metric that is 0 throughout it, gets the largest scale of
    that metric: where nothing is known, noise is better than a bound that bites."""
    known = np.where(found > 0, found, 0.0)
    largest = known.max(axis=0)
    return np.where(known > 0, known, np.where(largest > 0, largest, 1.0))


def _norms(proxy: Proxy, rows: NDArray[np.bool_]) -> Floats:
    """L1 of each device that has any of these rows, by metric."""
    owner, values = proxy.owner[rows], np.abs(proxy.rows.values[rows])
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    norms: Floats = np.add.reduceat(values, first, axis=0)
    return norms
