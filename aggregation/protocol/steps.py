"""Built-in steps: how a device counts itself in buckets by how much it has, to calibrate a task.

A mechanism needs public sizes: how much devices usually have in a slice, and in all. Where no
proxy data tells them, devices can: each puts its own norm into a bucket, and a calibration task
counts devices by bucket, with noise, like any other task. There are two steps, of which the
second needs what the first found:

- `slice_norms`: for each slice and metric that the device has, the bucket of its L1 norm there.
- `scaled_norm`: the one bucket of the L1 norm of everything it has, each part divided by its
  scale.

Buckets lie on a logarithmic scale: bucket i holds norms from lowest · 2^(i/4) to lowest ·
2^((i+1)/4), 96 of them, so that the highest edge is 2^24 ≈ 16.8 million times the lowest one.
What is smaller counts in the first bucket, what is larger in the last. `lowest` is a public number
in the metric's unit, chosen before any data is seen.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np

from aggregation.protocol.anonymization import Scales
from aggregation.protocol.part import Floats, Integers

BUCKETS: Final = 96
PER_DOUBLING: Final = 4
# A scaled norm has no unit. One is a device that has in one slice what its scale says.
LOWEST_SCALED: Final = 2.0**-12

# The keys that a step makes beside those it slices by, and its one metric.
METRIC: Final = "metric"
BUCKET: Final = "bucket"
DEVICES: Final = "devices"


class SliceNorms(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="slice_norms", tag_field="kind"
):
    """Count devices by the size of each slice and metric they have."""

    by: tuple[str, ...]
    # Metric → lower edge of its first bucket, in the metric's unit.
    lowest: dict[str, float]


class ScaledNorm(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="scaled_norm", tag_field="kind"
):
    """Count devices by the size of all they have, each slice and metric in units of its scale."""

    by: tuple[str, ...]
    scales: Scales


Norms = SliceNorms | ScaledNorm


def buckets_of(norms: Floats, lowest: Floats) -> Integers:
    """The bucket of each norm; norms are finite and above 0."""
    places = np.floor(PER_DOUBLING * np.log2(norms / lowest))
    found: Integers = np.clip(places, 0, BUCKETS - 1).astype(np.int64)
    return found


def edges(lowest: float) -> Floats:
    """The edges of all buckets, one more than there are buckets."""
    found: Floats = lowest * 2.0 ** (np.arange(BUCKETS + 1) / PER_DOUBLING)
    return found
