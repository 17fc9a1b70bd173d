"""The law of a sum of many noised values: two cumulants, and an effective number of draws.

A marginal adds up cells, and each carries its own independent Laplace draws: Σ w_i Z_i, with as
many draws as the marginal has coordinates. Variances and fourth cumulants of independent draws
add, σ² = Σ 2 w_i² b² and κ₄ = Σ 12 w_i⁴ b⁴, so both can be summed along with the values. Their
ratio says how many draws of equal size would give the same: k = 12 σ⁴ / (4 κ₄) = (Σ w²)² / Σ w⁴.

The half-width of a sum of k equal draws is σ · q(k): from `noise_law`, which is exact, for k up to
32, and in between by interpolation in 1/k, down to the normal law at 0. So for equal draws (each
slice of the paper's three mechanisms) this is **the exact law** to 1 part in 5,000, and for
unequal ones an approximation that is right in its first two even cumulants. q moves only from
2.118 (one draw) to 1.960 (normal), so little can go wrong: over random weights of very different
sizes the half-width lies between 0 and 1.5 % above the exact one, and the mean size between 0 and
1.2 % below (both tested).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import erf, pi, sqrt

import numpy as np

from aggregation.mechanisms.noise_law import combination
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.part import Floats

# Where the shape of a sum of equal draws is worked out; beyond 32 it is straight in 1/k.
_DRAWS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 32)


@dataclass(frozen=True, eq=False)
class Spread:
    """Variance and fourth cumulant of noise, in any shape; they add over independent noise."""

    variance: Floats
    fourth: Floats

    def scaled(self, factor: Floats) -> Spread:
        """Of the noise times a public factor."""
        return Spread(self.variance * factor**2, self.fourth * factor**4)

    @property
    def draws(self) -> Floats:
        """How many equal draws have this ratio of cumulants, 1 or more; 1 for no noise at all."""
        with np.errstate(invalid="ignore", divide="ignore"):
            draws = 3 * self.variance**2 / self.fourth
        return np.where(self.fourth > 0, np.maximum(draws, 1.0), 1.0)

    def half_width(self, level: float) -> Floats:
        """The noise is at most this large with probability `level`."""
        inverse, widths, _ = _shapes(level)
        shape = np.interp(1 / self.draws, inverse, widths)
        width: Floats = np.sqrt(self.variance) * shape
        return width

    def mean_abs(self) -> Floats:
        inverse, _, means = _shapes(0.95)
        mean: Floats = np.sqrt(self.variance) * np.interp(1 / self.draws, inverse, means)
        return mean


@lru_cache(maxsize=8)
def _shapes(level: float) -> tuple[Floats, Floats, Floats]:
    """1/k in rising order, with half-width and mean size of k equal draws, for σ = 1."""
    rows = [(0.0, _normal_width(level), sqrt(2 / pi))]
    for k in reversed(_DRAWS):
        # One draw of weight 1/GRID at ε = 1 has scale 1, and k of them have variance 2k.
        mean, width = combination(np.full(k, 1 / GRID), epsilon=1.0, level=level)
        rows.append((1 / k, width / sqrt(2 * k), mean / sqrt(2 * k)))
    table = np.array(rows)
    return table[:, 0], table[:, 1], table[:, 2]


def _normal_width(level: float) -> float:
    low, high = 0.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if erf(middle / sqrt(2)) < level else (low, middle)
    return high
