"""Scales and clip from noised histograms: what two calibration releases say, and nothing else.

Guarantee: none is spent here. A histogram is the noised answer of a calibration task, which has
paid its ε (`ondevice.step` has the argument); whatever is computed from it is post-processing. So
nothing in this file may read anything but noised counts and public numbers.

Why buckets below four noise scales are taken for zero: most of the 96 hold nobody, and the noise of
many empty ones would weigh as much as the few that matter. An empty bucket passes with probability
½·e⁻⁴ ≈ 0.9 %: of 96, nearly one. Where it lies more than two doublings away from the crowd it is
left out, too, since in a slice of few devices it would be the quantile. Why ε · N has to be
100,000: measured, parameters read this way cost 1 % of accuracy there, and 65 % at 30,000, where
the slices of few devices are lost. The gap and the least of a slice were chosen on one made-up
population and hold on three others (/docs/calibration has the figures).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from aggregation.calibration.scales import SCALE_QUANTILE, rounded
from aggregation.errors import Problem
from aggregation.protocol.anonymization import Scales
from aggregation.protocol.part import Floats
from aggregation.protocol.steps import BUCKETS, LOWEST_SCALED, edges

# ε · N of a release that parameters are read from, N being its noised total.
ENOUGH: Final = 100_000
NOISE_SCALES: Final = 4
# Two doublings. Whole numbers leave gaps, too: between one trip and two lie three empty buckets.
LARGEST_GAP: Final = 8
# A slice is read if its buckets hold so many times the least that one of them has to hold.
LIMITS_IN_A_SLICE: Final = 10


@dataclass(frozen=True)
class FittedScales:
    scales: Scales
    # The noised total of devices.
    devices: float
    # Slices and metrics with too few devices, which have the scale they had or a borrowed one.
    thin: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FittedClip:
    clip: float
    quantile: float
    devices: float


def fit_scales(
    counts: Floats,
    *,
    epsilon: float,
    slices: Sequence[str],
    lowest: Mapping[str, float],
    present: Scales,
) -> FittedScales:
    """S of every slice and metric, from devices by slice, metric and bucket.

    `lowest` has the metrics in their order. A slice with too few devices keeps its `present` scale;
    where there is none it takes the metric's largest: noise is better than a bound that bites.
    """
    devices = _enough(counts, epsilon)
    weights = _kept(counts, epsilon)
    read = {
        (name, metric): _scale(weights[s, m], lowest[metric], epsilon, f"{metric} in {name}")
        for s, name in enumerate(slices)
        for m, metric in enumerate(lowest)
    }
    thin = tuple(place for place, scale in read.items() if scale is None)
    found = {place: scale for place, scale in read.items() if scale is not None}
    scales: Scales = {name: {} for name in slices}
    for name, metric in read:
        own = found.get((name, metric)) or present.get(name, {}).get(metric)
        scales[name][metric] = own or _largest(found, metric)
    return FittedScales(scales, devices, thin)


def fit_clip(counts: Floats, *, epsilon: float, quantile: float) -> FittedClip:
    """C, from devices by the bucket of their scaled norm."""
    devices = _enough(counts, epsilon)
    clip = read_quantile(_kept(counts, epsilon), LOWEST_SCALED, quantile, what="the scaled norm")
    return FittedClip(rounded(clip), quantile, devices)


def usual_quantile(epsilon: float) -> float:
    """For C, by the ε of the task that will use it: 1 − q ≈ 0.005/ε is best at 10,000 devices per
    region. At a fixed quantile the clip's bias would remain, however large ε is."""
    return 1 - min(0.05, 0.005 / epsilon)


def read_quantile(weights: Floats, lowest: float, quantile: float, *, what: str) -> float:
    """Where this share of the weight lies below, within its bucket evenly on the log scale."""
    reached = np.cumsum(weights)
    wanted = quantile * reached[-1]
    bucket = int(np.searchsorted(reached, wanted))
    if bucket in (0, BUCKETS - 1):
        side, way = ("first", "below") if bucket == 0 else ("last", "above")
        raise Problem(
            f"The {100 * quantile:g} % quantile of {what} lies in the {side} bucket: most of it is "
            f"{way} what the buckets reach.",
            hint=f"Calibrate again with a {'lower' if bucket == 0 else 'higher'} lowest edge.",
        )
    inside = 1 - (reached[bucket] - wanted) / weights[bucket]
    low, high = edges(lowest)[bucket : bucket + 2]
    return float(low * (high / low) ** inside)


def _enough(counts: Floats, epsilon: float) -> float:
    """The noised total, if it is enough."""
    devices = float(counts.sum())
    if epsilon * devices < ENOUGH:
        raise Problem(
            f"ε · N is about {about(max(0.0, epsilon * devices))}, and {ENOUGH:,} are needed: "
            f"about {about(max(0.0, devices))} devices answered at ε = {epsilon:g}.",
            hint=f"Reach {about(ENOUGH / epsilon)} devices, or calibrate with a larger ε.",
        )
    return devices


def _kept(counts: Floats, epsilon: float) -> Floats:
    """What is taken for devices. A device is 1, so the noise on a bucket has the scale 1/ε."""
    large = np.where(counts < NOISE_SCALES / epsilon, 0.0, counts)
    kept: Floats = np.apply_along_axis(_crowd, -1, large)
    return kept


def _crowd(weights: Floats) -> Floats:
    """The heaviest bucket, and all that no large gap parts from it."""
    filled = np.flatnonzero(weights)
    gaps = np.flatnonzero(np.diff(filled) > LARGEST_GAP + 1) + 1
    heaviest = np.argmax(weights)
    kept = np.zeros_like(weights)
    for run in np.split(filled, gaps):
        if heaviest in run:
            kept[run] = weights[run]
    return kept


def _scale(weights: Floats, lowest: float, epsilon: float, what: str) -> float | None:
    if weights.sum() < LIMITS_IN_A_SLICE * NOISE_SCALES / epsilon:
        return None
    return rounded(read_quantile(weights, lowest, SCALE_QUANTILE, what=what))


def _largest(found: Mapping[tuple[str, str], float], metric: str) -> float:
    sizes = [scale for (_, its), scale in found.items() if its == metric]
    if not sizes:
        raise Problem(
            f"No slice has enough devices to tell a scale of {metric}.",
            hint="Slice by fewer columns, or calibrate with a larger ε.",
        )
    return max(sizes)


def about(number: float) -> str:
    """Two digits, and nothing small."""
    return "< 1,000" if number < 1000 else f"{float(f'{number:.2g}'):,.0f}"
