"""χ² of integer draws against a discrete Laplace law, in bins of about equal probability."""

from fractions import Fraction
from math import exp

import numpy as np
from scipy import stats


def p_value(draws: np.ndarray, decay: Fraction, *, bins: int = 100, scale: float = 1.0) -> float:
    """The p-value of these draws under the law with this decay, its scale times `scale`."""
    edges, expected = law_in_bins(float(decay) / scale, bins)
    seen = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=len(expected))
    return float(stats.chisquare(seen, expected * len(draws)).pvalue)


def law_in_bins(a: float, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Whole upper edges e₀ < e₁ … of (−∞, e₀], (e₀, e₁] … (eₙ, ∞), and their probabilities."""
    wanted = np.arange(1, bins) / bins
    size = np.log(2 * np.minimum(wanted, 1 - wanted) / (1 + exp(-a)) + 1e-300) / a
    edges = np.unique(np.where(wanted < 0.5, np.ceil(size), np.floor(-size)).astype(np.int64))
    below = cumulative(edges, a)
    return edges, np.diff(np.concatenate([[0.0], below, [1.0]]))


def cumulative(z: np.ndarray, a: float) -> np.ndarray:
    """P(Z ≤ z) for whole z."""
    tail = np.exp(-a * (np.abs(z) + (z >= 0))) / (1 + exp(-a))
    return np.where(z >= 0, 1 - tail, tail)
