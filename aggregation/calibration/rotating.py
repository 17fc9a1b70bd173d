"""Rotated bases and corrections by L-BFGS, from scaled axes on.

The fit starts where Group Scaling with its best clip bound is, with metrics mixed a little, and
goes down the expected error. Slices without a cell that counts are not part of that error: they
keep their scaled axes and no correction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aggregation.calibration.losers import Losers
from aggregation.calibration.proxy import summed
from aggregation.calibration.rotated_objective import Objective
from aggregation.calibration.scales import Scaled
from aggregation.calibration.weighing import Weights
from aggregation.mechanisms.rotated import MAX_CONDITION, MAX_CORRECTION, MIN_CORRECTION
from aggregation.protocol.anonymization import Rotated
from aggregation.protocol.part import Floats

# Each starts with those who reach this share of the bound, and ends when nobody else exceeds it.
_ROUNDS: Final = (150, 80, 80)
_NEAR: Final = 0.5
_MIXED: Final = -0.05
_FIRST_CORRECTION: Final = 1.01
# Errors are some hundredths, and L-BFGS stops by absolute steps: told in hundredths.
_HUNDREDTHS: Final = 100.0
_HOPELESS: Final = 1e6


def fitted_rotation(
    scaled: Scaled,
    weights: Weights,
    *,
    clip: float,
    epsilon: float,
    watch: Callable[[float], None],
) -> Rotated:
    """E and ρ of least expected error at this ε, for the slices that `scaled` has."""
    fit = _Fit(scaled, weights, clip, epsilon)
    steps = _Steps(watch)
    for limit in _ROUNDS:
        chosen = fit.sizes() > _NEAR
        fit.descend(chosen, limit, steps)
        if not (fit.sizes() > 1)[~chosen].any():
            break
    return fit.mechanism()


class _Steps:
    """Counts steps, of at most as many as all rounds have."""

    def __init__(self, watch: Callable[[float], None]) -> None:
        self._watch, self._done = watch, 0

    def __call__(self, _: Floats) -> None:
        self._done += 1
        self._watch(self._done / sum(_ROUNDS))


class _Fit:
    """The state of a fit: bases in units of the scaled axes, and corrections."""

    def __init__(self, scaled: Scaled, weights: Weights, clip: float, epsilon: float) -> None:
        self._scaled, self._proxy = scaled, scaled.proxy
        self._weights, self._epsilon = weights, epsilon
        self._slice_of = scaled.slice_of
        self._cell_slice = scaled.slicing.of(self._proxy.seen[weights.places])
        self._axes = 1 / (clip * scaled.sizes)
        slices, metrics = self._axes.shape
        self._free = np.bincount(self._cell_slice, minlength=slices) > 0
        self._basis = np.tile(np.eye(metrics), (slices, 1, 1))
        self._basis[self._free] += np.tril(np.full((metrics, metrics), _MIXED), -1)
        self._correction = np.ones((slices, metrics))
        self._correction[self._free] = _FIRST_CORRECTION

    def sizes(self) -> Floats:
        """Of each device, Σ|E h|: what exceeds 1 is clipped."""
        encoded = np.zeros(len(self._slice_of))
        basis = self._basis * self._axes[:, None, :]
        for number in np.unique(self._slice_of).tolist():
            rows = self._slice_of == number
            encoded[rows] = np.abs(self._proxy.rows.values[rows] @ basis[number].T).sum(axis=1)
        return summed(self._proxy.owner, encoded, self._proxy.devices)

    def descend(self, chosen: NDArray[np.bool_], limit: int, steps: _Steps) -> None:
        losers = Losers.of(self._scaled, self._weights, chosen=chosen)
        objective = Objective(losers, self._weights, self._cell_slice, self._epsilon)

        def value(x: Floats) -> tuple[float, Floats]:
            self._unpack(x)
            try:
                error, slope = objective(self._basis * self._axes[:, None, :], self._correction)
            except np.linalg.LinAlgError:  # a step onto a basis without inverse: step less far
                return _HOPELESS, np.zeros_like(x)
            by_basis = (slope.basis * self._axes[:, None, :])[self._free]
            found = np.concatenate([by_basis.ravel(), slope.correction[self._free].ravel()])
            return error * _HUNDREDTHS, found * _HUNDREDTHS

        from scipy.optimize import minimize  # half a second: only who fits a basis waits for it

        options = {"maxiter": limit, "maxfun": 2 * limit, "maxcor": 30, "ftol": 1e-7}
        found = minimize(
            value, self._pack(), jac=True, method="L-BFGS-B", bounds=self._bounds(),
            callback=steps, options=options,
        )  # fmt: skip
        self._unpack(found.x)

    def mechanism(self) -> Rotated:
        basis = self._basis * self._axes[:, None, :]
        named = zip(self._scaled.slicing.names, basis, self._correction, strict=True)
        bases, corrections = {}, {}
        for name, matrix, correction in named:
            bases[name] = tuple(tuple(_digits(v, 5) for v in row) for row in _conditioned(matrix))
            corrections[name] = tuple(_digits(v, 5) for v in correction)
        return Rotated(self._scaled.by, bases, corrections)

    def _pack(self) -> Floats:
        free = self._free
        return np.concatenate([self._basis[free].ravel(), self._correction[free].ravel()])

    def _unpack(self, x: Floats) -> None:
        slices, metrics = int(self._free.sum()), self._axes.shape[1]
        cut = slices * metrics**2
        self._basis[self._free] = x[:cut].reshape(slices, metrics, metrics)
        self._correction[self._free] = x[cut:].reshape(slices, metrics)

    def _bounds(self) -> list[tuple[float | None, float | None]]:
        slices, metrics = int(self._free.sum()), self._axes.shape[1]
        free: list[tuple[float | None, float | None]] = [(None, None)] * (slices * metrics**2)
        return free + [(MIN_CORRECTION, MAX_CORRECTION)] * (slices * metrics)


def _conditioned(matrix: Floats) -> Floats:
    """The same with its smallest stretch raised, where decoding would be refused as too fine."""
    left, stretch, right = np.linalg.svd(matrix)
    least = stretch[0] / (MAX_CONDITION * 0.9)
    if stretch[-1] >= least:
        return matrix
    held: Floats = left @ np.diag(np.maximum(stretch, least)) @ right
    return held


def _digits(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
