"""The exact discrete Laplace: P(Z = z) = (1 − e^−a) / (1 + e^−a) · e^−a|z|, by integers alone.

After Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020),
algorithms 1 and 2, on arrays. With a = s/t in lowest terms:

    U uniform on 0 … t − 1, kept with probability exp(−U/t), else begin again
    V = number of successes of a coin of probability exp(−1) before its first failure
    X = U + t·V                          has P(X = x) ∝ exp(−x/t)
    Y = ⌊X / s⌋                          has P(Y = y) ∝ exp(−y·s/t)
    Z = Y or −Y by a fair coin; a "−0" begins again, so that 0 is not counted twice

A coin of probability exp(−γ), 0 ≤ γ ≤ 1: toss coins of probability γ/1, γ/2, γ/3 … until one
fails; the toss that failed is odd with probability 1 − γ + γ²/2! − … = exp(−γ). With γ = u/t the
k-th coin is "a uniform integer below t·k is less than u": exact, no float anywhere. A float
Laplace is not: its values lie on a grid that gives away what it was added to (measured: ε ≥ 4.2
at a claimed 1).

What is drawn again depends on earlier random words only, never on anyone's data.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from aggregation.errors import Problem
from aggregation.protocol.part import Integers
from aggregation.release.randomness import RandomIntegers

# Candidates worked on at a time: they stay in the processor's cache.
_CANDIDATES = 1 << 15
# t·k stays below 2^62 for every k that can be reached: 2^18 coins in a row succeed with
# probability 1/(2^18)!.
_MAX_DENOMINATOR = 1 << 44


class DiscreteLaplace:
    """Independent draws of one discrete Laplace law, with a key of its own."""

    def __init__(self, decay: Fraction) -> None:
        """`decay` is a = ε / sensitivity: the scale's inverse."""
        if decay <= 0 or decay.denominator > _MAX_DENOMINATOR:
            raise Problem(f"No noise is drawn with a decay of {decay}.")
        self._s, self._t = decay.numerator, decay.denominator
        self._random = RandomIntegers()

    def draw(self, count: int) -> Integers:
        """`count` independent draws."""
        out = np.empty(count, dtype=np.int64)
        filled = 0
        while filled < count:
            drawn = self._some()[: count - filled]
            out[filled : filled + len(drawn)] = drawn
            filled += len(drawn)
        return out

    def _some(self) -> Integers:
        """As many draws as come of a batch of candidates."""
        u = self._random.below(self._t, _CANDIDATES)
        u = u[self._coins(u, self._t)]
        y = (u + self._t * self._runs(len(u))) // self._s
        negative = self._random.bits(len(y))
        z: Integers = np.where(negative, -y, y)
        kept: Integers = z[~(negative & (y == 0))]
        return kept

    def _runs(self, count: int) -> Integers:
        """How often a coin of probability exp(−1) succeeds before it fails."""
        runs = np.zeros(count, dtype=np.int64)
        alive = np.arange(count)
        while len(alive):
            alive = alive[self._coins(np.ones(len(alive), dtype=np.int64), 1)]
            runs[alive] += 1
        return runs

    def _coins(self, u: Integers, t: int) -> NDArray[np.bool_]:
        """For each u, whether a coin of probability exp(−u/t) succeeds."""
        success = np.zeros(len(u), dtype=np.bool_)
        alive, k = np.arange(len(u)), 1
        while len(alive):
            passed = self._random.below(t * k, len(alive)) < u
            if k % 2:
                success[alive[~passed]] = True
            alive, u, k = alive[passed], u[passed], k + 1
        return success
