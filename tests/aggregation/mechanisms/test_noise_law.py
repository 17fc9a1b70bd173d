"""The noise constants against the law itself: enumerated, integrated and in closed form."""

import math

import numpy as np
import pytest

from aggregation.errors import Problem
from aggregation.mechanisms import build_for
from aggregation.mechanisms.noise_law import combination, noise_of, unit_half_width
from aggregation.protocol.anonymization import GRID
from tests.aggregation.mechanisms.examples import CELLS, KINDS, METRICS, mechanisms


def _enumerated(epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Every |z| that matters, with its probability under the discrete Laplace."""
    a = epsilon / GRID
    z = np.arange(0, int(60 / a))
    p = np.exp(-a * z) * math.tanh(a / 2)
    p[1:] *= 2
    return z, p


@pytest.mark.parametrize("epsilon", [32.0, 1000.0, 2.0**21])
def test_one_weight_is_exact(epsilon: float) -> None:
    z, p = _enumerated(epsilon)
    assert p.sum() == pytest.approx(1, rel=1e-9)
    noise = noise_of(np.array([[3.0]]), epsilon=epsilon, level=0.95)
    assert noise.mean_abs[0, 0] == pytest.approx(3 * (z * p).sum(), rel=1e-9)
    width = unit_half_width(epsilon, 0.95)
    assert p[: width + 1].sum() >= 0.95
    assert p[:width].sum() < 0.95
    assert noise.half_width[0, 0] == 3 * width


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_distinct_weights_agree_with_partial_fractions(level: float) -> None:
    weights, epsilon = np.array([1.0, -0.5, 0.2]), 2.0
    mean, width = combination(weights, epsilon=epsilon, level=level)
    squares = weights**2
    shares = [np.prod([s / (s - other) for other in squares if other != s]) for s in squares]
    scales = np.abs(weights) * GRID / epsilon
    assert mean == pytest.approx(float(np.dot(shares, scales)), rel=1e-9)
    beyond = float(np.dot(shares, np.exp(-width / scales)))
    assert beyond == pytest.approx(1 - level, rel=1e-6)


def test_two_equal_weights_have_their_known_mean() -> None:
    # The sum of two Laplace of scale 1 has density (1 + |x|) e^-|x| / 4, so E|x| = 3/2.
    mean, width = combination(np.array([1.0, 1.0]), epsilon=1.0, level=0.9)
    assert mean == pytest.approx(1.5 * GRID, rel=1e-9)
    t = width / GRID
    assert (1 + t / 2) * math.exp(-t) == pytest.approx(0.1, rel=1e-6)


def test_a_negligible_weight_changes_nothing() -> None:
    alone = combination(np.array([2.0]), epsilon=1.0, level=0.9)
    beside = combination(np.array([2.0, 1e-5]), epsilon=1.0, level=0.9)
    assert beside == pytest.approx(alone, rel=1e-5)


def test_many_weights_of_all_sizes_stay_finite() -> None:
    mean, width = combination(np.geomspace(1e-8, 1e8, 17), epsilon=0.01, level=0.99)
    assert 0 < mean < width < math.inf


@pytest.mark.parametrize("kind", KINDS)
def test_every_mechanism_says_how_large_its_noise_is(kind: str) -> None:
    """500,000 draws: the mean of |noise| is within 1 %, seven standard errors."""
    arithmetic = build_for(mechanisms(correction=1.1)[kind], CELLS, METRICS)
    noise = arithmetic.noise(epsilon=2.0, level=0.9)
    draws = np.random.default_rng(1).laplace(scale=GRID / 2, size=(500_000, 3)).astype(np.int64)
    # All on cell 4, which lies in the second slice of every slicing.
    released = np.abs(arithmetic.decode_cells(np.full(500_000, 4), draws))
    own = int(arithmetic.slicing.of(np.array([4]))[0])
    np.testing.assert_allclose(noise.mean_abs[own], released.mean(axis=0), rtol=0.01)
    covered = (released <= noise.half_width[own]).mean(axis=0)
    np.testing.assert_allclose(covered, 0.9, atol=0.003)


@pytest.mark.parametrize(("epsilon", "level"), [(0.0, 0.9), (math.nan, 0.9), (1.0, 1.0)])
def test_it_refuses_what_has_no_noise(epsilon: float, level: float) -> None:
    with pytest.raises(Problem):
        noise_of(np.ones((1, 1)), epsilon=epsilon, level=level)
