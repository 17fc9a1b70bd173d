"""Expected errors are what real noise on really bounded contributions gives on average."""

from fractions import Fraction

import numpy as np
import pytest

from aggregation.calibration.expecting import bounded_sums, expected_error
from aggregation.calibration.mixed_noise import mean_sizes
from aggregation.mechanisms import build_for
from aggregation.mechanisms.noise_law import combination
from aggregation.ondevice.bounding import bound
from aggregation.protocol.anonymization import GRID
from aggregation.release.laplace import DiscreteLaplace
from tests.aggregation.calibration.examples import fit, people, weights


@pytest.mark.usefixtures("same_noise")
@pytest.mark.parametrize("name", ["group_scaling_q98", "budget_split", "rotated"])
def test_it_is_the_mean_of_what_noise_makes_of_a_release(name):
    """Of 40 releases; within 3 %: three times what the mean of so many strays by."""
    proxy = people()
    mechanism = fit(name)
    arithmetic = build_for(mechanism, proxy.cells, proxy.metrics)
    sums = bounded_sums(arithmetic, proxy, max_rows=64)
    law = DiscreteLaplace(Fraction(2, GRID))
    errors = []
    for _ in range(40):
        noised = sums + law.draw(sums.size).reshape(sums.shape)
        off = arithmetic.decode_cells(proxy.seen, noised) - proxy.truth
        errors.append(weights(proxy).error(off).mean)
    told = expected_error(mechanism, proxy, weights(proxy), epsilon=2.0, max_rows=64).mean
    assert np.mean(errors) == pytest.approx(told, rel=0.03)


def test_sums_are_those_of_what_phones_send():
    proxy = people()
    mechanism = fit("group_scaling_q98")
    arithmetic = build_for(mechanism, proxy.cells, proxy.metrics)
    parts = bound(arithmetic, proxy.rows, max_rows=64)
    dense = np.zeros((proxy.cells.size, 3), dtype=np.int64)
    np.add.at(dense, parts.ranks, parts.values)
    assert (bounded_sums(arithmetic, proxy, max_rows=64) == dense[proxy.seen]).all()


def test_the_mean_of_mixed_noise_is_that_of_releases():
    weights = np.array([[1.0, 0.5, 0.1], [2.0, 2.0, 2.0], [0.3, 0.0, -4.0]])
    mean, _ = mean_sizes(weights)
    told = [combination(row / GRID, epsilon=1.0, level=0.95)[0] for row in weights]
    assert mean.tolist() == pytest.approx(told, rel=1e-6)


def test_its_slope_is_its_slope():
    weights, step = np.array([1.0, -0.5, 0.1]), 1e-6
    _, slope = mean_sizes(weights)
    for k in range(3):
        moved = np.eye(3)[k] * step
        rise = mean_sizes(weights + moved)[0] - mean_sizes(weights - moved)[0]
        assert slope[k] == pytest.approx(rise / (2 * step), rel=1e-5)
