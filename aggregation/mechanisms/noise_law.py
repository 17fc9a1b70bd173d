"""The law of the noise in a released value: exact constants, in metric units.

A released value is a linear combination Σ w_j Z_j of noised grid sums, with Z_j independent
discrete Laplace, P(Z = z) ∝ exp(−a|z|), a = ε/K. With one weight everything has a closed form:
E|Z| = 1/sinh(a), and P(|Z| > t) = 2 exp(−a(t+1)) / (1 + exp(−a)) for whole t.

With several weights (a rotated basis) we use the continuous Laplace of scale 1/a for each Z_j; it
differs from the discrete one by a relative a²/12, below 1e-11 for ε ≤ 8. A Laplace is the
difference of two exponentials, so Σ w_j Z_j is Y − Y′ with Y, Y′ independent sums of exponentials
of means |w_j|/a. Let T be the generator of the chain that runs through these exponentials one
after another, started in the first (row vector e₁). When Y′ has passed, the chain of Y is in the
state e₁ Π_j (I − |w_j|/a · T)⁻¹, and from there it has to last t longer:

    P(|Σ w_j Z_j| > t) = 2 e₁ Π_j (I − |w_j|/a T)⁻¹ exp(tT) 1,      E|·| = its integral over t.

All matrices are non-negative where they are multiplied, so nothing cancels, and equal weights
need no care (partial fractions would divide by their difference).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, log, log1p, log2, sinh

import numpy as np

from aggregation.errors import Problem
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.part import Floats

# A weight this much smaller than the largest changes the law by the square of it.
_NEGLIGIBLE = 1e-6
_HALVINGS = 50
# Enough terms of the exponential series for arguments up to 1.
_TERMS = 20


@dataclass(frozen=True, eq=False)
class Noise:
    """Constants of the noise, in metric units, per slice (first axis) and metric (second)."""

    level: float
    mean_abs: Floats
    # The noise is at most this large with probability `level`.
    half_width: Floats


def noise_of(decoding: Floats, *, epsilon: float, level: float) -> Noise:
    """Constants of the noise after decoding by factors or by matrices (rows are metrics)."""
    if not (epsilon > 0 and np.isfinite(epsilon) and 0 < level < 1):
        raise Problem(f"There is no noise at ε = {epsilon} and level {level}.")
    if decoding.ndim == 2:
        size = np.abs(decoding)
        return Noise(level, size * _unit_mean(epsilon), size * unit_half_width(epsilon, level))
    means, widths = np.empty(decoding.shape[:2]), np.empty(decoding.shape[:2])
    for place in np.ndindex(means.shape):
        means[place], widths[place] = combination(decoding[place], epsilon=epsilon, level=level)
    return Noise(level, means, widths)


def _unit_mean(epsilon: float) -> float:
    """E|Z| of one noised coordinate, in grid units."""
    return 1 / sinh(epsilon / GRID)


def unit_half_width(epsilon: float, level: float) -> int:
    """The smallest whole t with P(|Z| ≤ t) ≥ level, in grid units."""
    a = epsilon / GRID
    return max(0, ceil((log(2) - log(1 - level) - log1p(exp(-a))) / a - 1))


def combination(weights: Floats, *, epsilon: float, level: float) -> tuple[float, float]:
    """Mean size and half-width of Σ w_j Z_j, for few weights of any size and sign."""
    size = np.sort(np.abs(weights))[::-1]
    largest = float(size[0])
    size = size[size > largest * _NEGLIGIBLE]
    if len(size) <= 1:
        return largest * _unit_mean(epsilon), largest * unit_half_width(epsilon, level)
    start, generator = _phases(size / largest)
    unit = largest * GRID / epsilon
    mean = 2 * float(start @ np.linalg.solve(-generator, np.ones(len(size))))
    return mean * unit, _half_width(start, generator, level) * unit


def _phases(means: Floats) -> tuple[Floats, Floats]:
    """The state of Y's chain once Y′ has passed, and the chain's generator."""
    count = len(means)
    generator = np.diag(-1 / means) + np.diag(1 / means[:-1], k=1)
    state = np.zeros(count)
    state[0] = 1.0
    for mean in means:
        state = np.linalg.solve((np.eye(count) - mean * generator).T, state)
    return state, generator


def _half_width(start: Floats, generator: Floats, level: float) -> float:
    def beyond(t: float) -> float:
        return 2 * float(start @ _exponential(generator * t).sum(axis=1))

    low, high = 0.0, 1.0
    while beyond(high) > 1 - level:
        low, high = high, high * 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > 1 - level else (low, middle)
    return high


def _exponential(generator: Floats) -> Floats:
    """The exponential of a generator, from non-negative terms only, by repeated squaring."""
    rate = float(-generator.diagonal().min())
    squarings = max(0, ceil(log2(rate)))
    step = (generator + rate * np.eye(len(generator))) / 2**squarings
    term = total = np.eye(len(generator))
    for k in range(1, _TERMS + 1):
        term = term @ step / k
        total = total + term
    total = total * exp(-rate / 2**squarings)
    for _ in range(squarings):
        total = total @ total
    return total
