"""The paper's weighted relative error: how wrong a release is where it matters.

A cell counts if at least 2,000 devices contributed to it, and weighs n_c / n_r: its share of the
events of its place. Per metric, the relative errors of these cells are averaged by weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from aggregation.calibration.proxy import Proxy
from aggregation.errors import Problem
from aggregation.mechanisms.slices import Slicing
from aggregation.protocol.part import Floats, Integers
from aggregation.release.clipping import PLACES

LEAST_DEVICES: Final = 2000


@dataclass(frozen=True)
class Error:
    """Weighted relative error by metric, and the mean over metrics."""

    by_metric: dict[str, float]
    mean: float


@dataclass(frozen=True, eq=False)
class Weights:
    """The cells that count, and how much each does."""

    # Places in `Proxy.seen`.
    places: Integers
    # Per cell that counts: weights with sum 1, and true sums.
    share: Floats
    truth: Floats
    metrics: tuple[str, ...]

    @classmethod
    def of(cls, proxy: Proxy, *, least_devices: int = LEAST_DEVICES) -> Weights:
        enough = proxy.contributors >= least_devices
        places = np.flatnonzero(enough & (proxy.truth > 0).all(axis=1))
        if not len(places):
            raise Problem(
                f"No cell of the proxy data has {least_devices:,} devices.",
                hint="Errors are weighed over such cells: use more devices, or larger cells.",
            )
        events = proxy.truth[:, proxy.count]
        by = [name for name in proxy.cells.names if name in PLACES]
        where = Slicing.by(by, proxy.cells).of(proxy.seen)
        weight = (events / np.bincount(where, events)[where])[places]
        return cls(places, weight / weight.sum(), proxy.truth[places], proxy.metrics)

    def error(self, off: Floats) -> Error:
        """From how far each cell of `seen` is off, or is expected to be, by metric."""
        relative = np.abs(off[self.places]) / self.truth
        by_metric = (self.share[:, None] * relative).sum(axis=0)
        named = dict(zip(self.metrics, by_metric.tolist(), strict=True))
        return Error(named, float(by_metric.mean()))
