"""Noise: the one step between sums and anything that may be seen.

Guarantee: ε-differential privacy for adding or removing one device's contribution to one window.
Argument: the sums are integers, and one device changes them by q with Σ|q| ≤ K, checked on the
device and again in the session (`mechanisms.interface`). Every declared coordinate, empty or not,
gets its own independent draw of the discrete Laplace law P(Z = z) ∝ exp(−|z|·ε/K). For sums x and
x′ that differ by q, and for every integer vector y,

    P(x + Z = y) / P(x′ + Z = y) = exp(ε/K · Σ (|y − x′| − |y − x|)) ≤ exp(ε/K · Σ|q|) ≤ exp(ε).

Nothing else of the sums leaves: neither how many devices there were, nor which cells were touched
(noise on touched cells only: ε ≥ 7.7 at a claimed 1). ε is the decimal text of the approved config
as an exact fraction, K comes from the mechanism, and the draws are exact integers (`laplace`).

The sums are overwritten where they stand, a chunk at a time: once `add_noise` returns, the
un-noised ones no longer exist, so that no second release can be made of them.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from aggregation.core.group_by_sum import Report
from aggregation.errors import Problem
from aggregation.protocol.part import Integers
from aggregation.release.laplace import DiscreteLaplace
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe

# Coordinates noised at a time.
_CHUNK = 1 << 18


class Draws(Protocol):
    """Independent draws of a noise law."""

    def draw(self, count: int) -> Integers: ...


def add_noise(report: Report, recipe: Recipe, *, draws: Draws | None = None) -> Noised:
    """Noise on every declared cell × metric. Takes the report's sums over: they are gone after.

    `draws` is for tests alone (noise off, broken noise); no other code gives it.
    """
    sums = report.sums
    if sums.shape != recipe.shape or sums.dtype != np.int64:
        raise Problem("These sums are not of the cells and metrics that the task declares.")
    if not (sums.flags.c_contiguous and sums.flags.writeable):
        raise Problem("These sums cannot be noised where they stand.")
    law = draws
    if law is None:
        law = DiscreteLaplace(recipe.epsilon / recipe.arithmetic.sensitivity)
    flat = sums.reshape(-1)
    for at in range(0, len(flat), _CHUNK):
        chunk = flat[at : at + _CHUNK]
        chunk += law.draw(len(chunk))
    return Noised(sums)
