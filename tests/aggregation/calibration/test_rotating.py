"""A rotated basis is fitted by exact gradients, ends valid, and beats the best scaling."""

import numpy as np
import pytest

from aggregation.calibration.expecting import expected_error
from aggregation.calibration.fitting import fitted
from aggregation.calibration.losers import Losers
from aggregation.calibration.rotated_objective import Objective
from aggregation.calibration.rotating import _conditioned
from aggregation.mechanisms import build_for
from aggregation.protocol.anonymization import Rotated
from tests.aggregation.calibration.examples import BY, fit, people, scaled, weights

CLIP = 6.0


def start(seed: int = 5) -> tuple[Objective, np.ndarray, np.ndarray]:
    """Somewhere in the middle of a fit, where a third of all devices are clipped."""
    proxy = people()
    sizes, counted = scaled(proxy, *BY), weights(proxy)
    rng = np.random.default_rng(seed)
    mixed = np.eye(3) + 0.2 * rng.standard_normal((len(sizes.slicing), 3, 3))
    basis = mixed / (CLIP * sizes.sizes)[:, None, :]
    correction = 1.05 + 0.1 * rng.random((len(sizes.slicing), 3))
    losers = Losers.of(sizes, counted, chosen=np.ones(proxy.devices, dtype=bool))
    cell_slice = sizes.slicing.of(proxy.seen[counted.places])
    return Objective(losers, counted, cell_slice, 2.0), basis, correction


def test_the_gradient_is_that_of_small_steps():
    objective, basis, correction = start()
    _, slope = objective(basis, correction)
    rng = np.random.default_rng(2)
    for _ in range(5):
        d_basis = rng.standard_normal(basis.shape) * np.abs(basis).mean(axis=(1, 2), keepdims=True)
        d_correction = rng.standard_normal(correction.shape)
        step = 1e-6
        up, _ = objective(basis + step * d_basis, correction + step * d_correction)
        down, _ = objective(basis - step * d_basis, correction - step * d_correction)
        told = (slope.basis * d_basis).sum() + (slope.correction * d_correction).sum()
        assert told == pytest.approx((up - down) / (2 * step), rel=1e-4)


def test_the_objective_is_the_error_in_the_code_of_phones():
    """But for the grid and the most rows that a phone sends."""
    objective, basis, correction = start()
    names = scaled(people(), *BY).slicing.names
    mechanism = Rotated(
        BY,
        {name: tuple(map(tuple, m.tolist())) for name, m in zip(names, basis, strict=True)},
        {name: tuple(c.tolist()) for name, c in zip(names, correction, strict=True)},
    )
    told, _ = objective(basis, correction)
    found = expected_error(mechanism, people(), weights(people()), epsilon=2.0, max_rows=64)
    assert told == pytest.approx(found.mean, rel=1e-3)


def test_devices_that_stay_below_the_bound_may_be_left_out():
    objective, basis, correction = start()
    proxy, sizes = people(), scaled(people(), *BY)
    encoded = np.einsum("nij,nj->ni", basis[sizes.slice_of], proxy.rows.values)
    size = np.bincount(proxy.owner, np.abs(encoded).sum(axis=1), proxy.devices)
    some = Losers.of(sizes, weights(proxy), chosen=size > 0.9)
    assert some.devices < proxy.devices / 2
    value, slope = objective(basis, correction)
    quick = Objective(some, objective.weights, objective.slice_of, 2.0)(basis, correction)
    assert quick[0] == pytest.approx(value, rel=1e-12)
    assert quick[1].basis == pytest.approx(slope.basis, rel=1e-9, abs=1e-15)


def test_it_beats_the_best_scaling_on_others():
    """On people it was not fitted on, of regions that it does not know."""
    mine, others = people(1), people(2)
    errors = {}
    for name in ("group_scaling_grid", "rotated"):
        mechanism = fit(name, epsilon=2.0)
        assert build_for(mechanism, mine.cells, mine.metrics)
        found = expected_error(mechanism, others, weights(others), epsilon=2.0, max_rows=64)
        errors[name] = found.mean
    assert errors["rotated"] < 0.8 * errors["group_scaling_grid"]


def test_slices_that_nobody_reaches_keep_their_axes():
    found = fit("rotated")
    assert isinstance(found, Rotated)
    matrix = np.array(found.basis["flying/within"])
    assert (matrix == np.diag(np.diag(matrix))).all()
    assert found.correction["flying/within"] == (1.0, 1.0, 1.0)


def test_a_fit_ends_when_its_watch_says_so():
    class Enough(Exception):
        pass

    def watch(share: float) -> None:
        if share > 0.01:
            raise Enough

    with pytest.raises(Enough):
        fitted(
            "rotated", scaled(people()), weights(people()), epsilon=2.0, rotate_by=BY, watch=watch
        )


def test_a_basis_too_fine_to_decode_is_made_coarser():
    held = _conditioned(np.diag([1.0, 1e-3, 1e-7]))
    assert np.linalg.cond(held) == pytest.approx(9000)
    assert (_conditioned(np.eye(3)) == np.eye(3)).all()
