"""Estimates: noised sums decoded to metric units, with the law of the noise they carry.

Decoding is post-processing: it reads noised integers and public parameters. All declared cells
are there, in the order of their ranks, and nothing is suppressed yet, so estimates are for the
release's own arithmetic; what people see is a `Table`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aggregation.mechanisms import Arithmetic
from aggregation.mechanisms.noise_law import Noise
from aggregation.protocol.anonymization import GRID, Rotated
from aggregation.protocol.part import Floats
from aggregation.protocol.ranks import Cells
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe
from aggregation.release.sum_law import Spread

# The level of every interval we show.
LEVEL: Final = 0.95
Classes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class NoiseLaw:
    """Constants of the noise, the same for all rows of a class (first axis); public."""

    # Mean size and half-width per metric, in metric units.
    noise: Noise
    # Between the metrics of a row, in metric units.
    covariance: Floats
    # Effective number of draws per metric: the shape of the law.
    draws: Floats


@dataclass(frozen=True, eq=False)
class Estimates:
    """One row per cell of these keys, one column per metric."""

    cells: Cells
    metrics: tuple[str, ...]
    values: Floats
    law: NoiseLaw
    # The class of each row.
    classes: Classes
    # What undoing the clip loss added, as a share of what was there before: ρ − 1. One row for
    # all where it is the same.
    correction: Floats
    # Clip uncertainty at `LEVEL`, in metric units; none where the task has no fit of it.
    clip: Floats | None

    def metric(self, name: str) -> int:
        return self.metrics.index(name)


def cell_estimates(noised: Noised, recipe: Recipe) -> Estimates:
    """The estimates of all declared cells. The noise's constants are exact."""
    arithmetic, epsilon = recipe.arithmetic, float(recipe.epsilon)
    values = arithmetic.decode(noised.sums)
    classes = arithmetic.slicing.of(np.arange(len(values))).astype(np.int32)
    covariance, spread = slice_spreads(arithmetic, epsilon)
    rho = corrections(recipe)
    return Estimates(
        cells=recipe.cells,
        metrics=recipe.metrics,
        values=values,
        law=NoiseLaw(arithmetic.noise(epsilon=epsilon, level=LEVEL), covariance, spread.draws),
        classes=classes,
        correction=np.zeros((1, len(recipe.metrics))) if rho is None else (rho - 1)[classes],
        clip=None if recipe.clip is None else recipe.clip.of_cells(values),
    )


def slice_spreads(arithmetic: Arithmetic, epsilon: float) -> tuple[Floats, Spread]:
    """Covariance (slices, metrics, metrics) and cumulants (slices, metrics) of one cell's noise."""
    decoding = arithmetic.decoding
    if decoding.ndim == 2:
        decoding = decoding[:, :, None] * np.eye(decoding.shape[1])
    scaled = decoding * (GRID / epsilon)
    covariance = 2 * np.einsum("sij,skj->sik", scaled, scaled)
    variance = np.ascontiguousarray(np.diagonal(covariance, axis1=1, axis2=2))
    return covariance, Spread(variance, 12 * (scaled**4).sum(axis=2))


def corrections(recipe: Recipe) -> Floats | None:
    """ρ by slice and metric; nothing for mechanisms that correct nothing."""
    mechanism = recipe.config.mechanism
    if not isinstance(mechanism, Rotated):
        return None
    return np.array([mechanism.correction[name] for name in recipe.arithmetic.slicing.names])
