"""A crowd of devices whose sizes are known: what calibrations are to find."""

from __future__ import annotations

import numpy as np

from aggregation.protocol.part import Floats
from aggregation.protocol.steps import BUCKETS, LOWEST_SCALED, buckets_of

ACTIVITIES, METRICS = 9, 2
# What the first activities have in the middle; the others are nobody's.
MEDIANS = {0: (3.0, 4.0), 4: (9.0, 80.0), 5: (5.0, 30.0)}
# As `asking.lowest_edge` has them: 1/16, and a sixteenth of the low end of what is typical.
LOWEST = (1 / 16, 1 / 64)


def crowd(cells: int) -> Floats:
    """Devices by cell of a calibration."""
    if cells == BUCKETS:
        return histogram(norms(0.8, 0), LOWEST_SCALED) * 3
    counts = np.zeros((ACTIVITIES, METRICS, BUCKETS))
    for activity, medians in MEDIANS.items():
        for metric, median in enumerate(medians):
            counts[activity, metric] = histogram(norms(median, metric), LOWEST[metric]) / 2
    return counts.ravel()


def norms(median: float, seed: int) -> Floats:
    return np.random.default_rng(seed).lognormal(np.log(median), 0.8, 100_000)


def histogram(norms: Floats, lowest: float) -> Floats:
    return np.bincount(buckets_of(norms, np.array(lowest)), minlength=BUCKETS).astype(float)
