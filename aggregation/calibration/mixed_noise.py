"""The mean size of a mix of Laplace draws, and how it changes with the mix.

For X = Σ w_k z_k with independent Laplace z_k of scale 1, the characteristic function is
ϕ(x) = Π 1/(1 + w_k² x²), and

    E|X| = 2/π · ∫₀^∞ (1 − ϕ(x)) / x² dx,      ∂E|X|/∂w_k = 4/π · ∫₀^∞ ϕ(x) w_k / (1 + w_k² x²) dx.

Both are sums over a grid that is even in log x: the integrands are analytic and fall off on both
sides, so the sums are exact to more digits than a fit needs. Unlike partial fractions they do not
mind weights of the same size. `mechanisms.noise_law` has the same mean by another way; a test
compares the two.
"""

from __future__ import annotations

from math import pi
from typing import Final

import numpy as np

from aggregation.protocol.part import Floats

_STEP: Final = 0.125
_X: Final = np.exp(np.arange(-20.0, 20.0, _STEP))


def mean_sizes(weights: Floats) -> tuple[Floats, Floats]:
    """E|Σ w_k z_k| over the last axis, and its derivative by each w_k."""
    largest = np.abs(weights).max(axis=-1, keepdims=True)
    w = weights / largest
    spread = 1 + (w[..., None] * _X) ** 2
    law = 1 / spread.prod(axis=-2)
    mean = 2 / pi * _STEP * ((1 - law) / _X).sum(axis=-1) * largest[..., 0]
    slope = 4 / pi * _STEP * (law[..., None, :] * w[..., None] / spread * _X).sum(axis=-1)
    return mean, slope
