"""The law of sums against the exact law of few draws, and against draws."""

from fractions import Fraction

import numpy as np
import pytest

from aggregation.mechanisms.noise_law import combination
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.part import Floats
from aggregation.release.laplace import DiscreteLaplace
from aggregation.release.sum_law import Spread


def spread_of(weights: Floats, *, epsilon: float) -> Spread:
    """Of Σ w_j Z_j, with one draw in grid units for each weight."""
    scale = weights * (GRID / epsilon)
    return Spread(2 * (scale**2).sum(), 12 * (scale**4).sum())


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 9, 11, 14, 20, 40])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_equal_draws_have_their_exact_law(count: int, level: float) -> None:
    weights = np.full(count, 3.0)
    mean, width = combination(weights, epsilon=2.0, level=level)
    law = spread_of(weights, epsilon=2.0)
    assert float(law.draws) == pytest.approx(count)
    assert float(law.half_width(level)) == pytest.approx(width, rel=2e-4)
    assert float(law.mean_abs()) == pytest.approx(mean, rel=2e-4)


def test_unequal_draws_are_close_and_never_too_narrow(size: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(60 if size == "everyday" else 2000):
        weights = np.exp(rng.normal(0, rng.uniform(0, 2), rng.integers(2, 10)))
        mean, width = combination(weights, epsilon=1.0, level=0.95)
        law = spread_of(weights, epsilon=1.0)
        assert -2e-4 < float(law.half_width(0.95)) / width - 1 < 0.015
        assert -0.012 < float(law.mean_abs()) / mean - 1 < 2e-4


def test_many_draws_cover_as_they_say() -> None:
    """150 draws each, 10,000 sums: coverage 0.95 within 5 standard errors (0.011)."""
    draws = DiscreteLaplace(Fraction(1, GRID)).draw(10_000 * 150).reshape(10_000, 150)
    weights = np.repeat([1.0, 0.2, 4.0], 50)
    width = float(spread_of(weights, epsilon=1.0).half_width(0.95))
    covered = (np.abs(draws @ weights) <= width).mean()
    assert abs(covered - 0.95) < 0.011


def test_cumulants_add_and_scale() -> None:
    one, other = spread_of(np.ones(2), epsilon=1.0), spread_of(np.full(3, 2.0), epsilon=1.0)
    both = spread_of(np.array([1.0, 1.0, 2.0, 2.0, 2.0]), epsilon=1.0)
    assert one.variance + other.variance == pytest.approx(both.variance)
    assert one.fourth + other.fourth == pytest.approx(both.fourth)
    scaled = both.scaled(np.array(-3.0))
    assert scaled.half_width(0.95) == pytest.approx(3 * both.half_width(0.95))


def test_no_noise_has_no_width() -> None:
    nothing = Spread(np.zeros(2), np.zeros(2))
    assert nothing.half_width(0.95).tolist() == [0, 0]
    assert nothing.mean_abs().tolist() == [0, 0]
