"""What a rotated basis is fitted to: the expected weighted error, and its exact gradient.

With E a basis and ρ a correction per slice, device i has t_i = Σ|E h| over its rows and keeps the
share f_i = min(1, 1/t_i) of each: E⁻¹ undoes E, so a cell's clipped sum is A_c = Σ f_i h. Then

    F = 1/m Σ_cells,metrics (w_c / T_cm) · b φ(B / b),      φ(u) = |u| + exp(−|u|),
    B = ρ A_c − T_c,      b = ρ · E|E⁻¹ z| / ε.

The gradient goes the same way back: from F to A and b, from A to f and t, from t and b to E.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aggregation.calibration.expecting import mean_size
from aggregation.calibration.losers import Losers
from aggregation.calibration.mixed_noise import mean_sizes
from aggregation.calibration.weighing import Weights
from aggregation.protocol.part import Floats, Integers


@dataclass(frozen=True, eq=False)
class Gradient:
    basis: Floats
    correction: Floats


@dataclass(frozen=True, eq=False)
class Objective:
    """F of the bases (slices, m, m) and corrections (slices, m)."""

    losers: Losers
    weights: Weights
    # The slice of each cell that counts.
    slice_of: Integers
    epsilon: float

    def __call__(self, basis: Floats, correction: Floats) -> tuple[float, Gradient]:
        of, truth = self.slice_of, self.weights.truth
        inverse: Floats = np.linalg.inv(basis).astype(np.float64, copy=False)
        unit, unit_slope = mean_sizes(inverse)
        noise = (correction * unit / self.epsilon)[of]
        clipped = self.losers.clip(basis)
        kept, rho = clipped.sums, correction[of]
        bias = rho * kept - truth
        worth = self.weights.share[:, None] / truth / truth.shape[1]
        value = float((worth * mean_size(bias, noise)).sum())
        size = np.abs(bias) / noise
        by_bias = worth * np.sign(bias) * -np.expm1(-size)
        by_noise = worth * np.exp(-size) * (1 + size)
        by_unit = self._added(by_noise * rho / self.epsilon)
        by_inverse = by_unit[:, :, None] * unit_slope
        turned = inverse.transpose(0, 2, 1)
        by_basis = clipped.slope(by_bias * rho) - turned @ by_inverse @ turned
        by_correction = self._added(by_bias * kept + by_noise * (unit / self.epsilon)[of])
        return value, Gradient(by_basis, by_correction)

    def _added(self, by_cell: Floats) -> Floats:
        """Rows of cells added up to their slices."""
        slices = self.losers.slices
        return np.stack([np.bincount(self.slice_of, c, slices) for c in by_cell.T], axis=1)
