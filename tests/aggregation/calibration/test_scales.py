"""Scales are the paper's quantiles, and clip bounds those of least error."""

import numpy as np
import pytest

from aggregation.calibration.clips import clip_by_grid, clip_by_quantile, norms_of
from aggregation.calibration.expecting import expected_error
from aggregation.calibration.fitting import NAMES, fitted
from aggregation.calibration.scales import FEWEST, Scaled
from aggregation.errors import Problem
from aggregation.mechanisms import build_for
from aggregation.protocol.anonymization import GroupScaling, JointClipping
from tests.aggregation.calibration.examples import BY, fit, people, scaled, tiny, weights


def test_scales_are_quantiles_over_devices_that_have_the_slice():
    proxy = people()
    driving = list(proxy.cells.domains[1]).index("driving")
    mine = proxy.cells.indices(proxy.rows.ranks, "activity") == driving
    km = np.bincount(proxy.owner[mine], proxy.rows.values[mine, 1])
    assert scaled(proxy).sizes[driving, 1] == pytest.approx(np.quantile(km[km > 0], 0.95))


def test_a_slice_that_nobody_has_gets_the_largest_scale():
    few, many = [(0, 3, 1.0)], [(0, 3, 1.0), (2, 2, 0.0)]
    found = Scaled.of(tiny(few, *[many] * FEWEST), ("region", "activity"))
    assert found.named["b/driving"] == {"trips": 3.0, "km": 1.0}
    assert found.named["b/walking"] == {"trips": 2.0, "km": 1.0}
    assert found.is_known.tolist() == [True, False, True, False]


def test_no_scale_is_a_few_devices_own():
    """One device less than needed, all of them with 7 trips: nothing of it is told."""
    found = Scaled.of(tiny(*[[(0, 3, 1.0)]] * 40, *[[(3, 7, 9.0)]] * (FEWEST - 1)), ("activity",))
    assert found.named["driving"] == {"trips": 3.0, "km": 1.0}
    assert found.is_known.tolist() == [True, False]


def test_a_quantile_bound_is_exceeded_by_as_many():
    norms = norms_of(people(), scaled(people()).by_row)
    assert (norms > clip_by_quantile(norms, 0.9)).mean() == pytest.approx(0.1, abs=0.005)


@pytest.mark.parametrize("epsilon", [0.5, 8.0])
def test_a_searched_bound_is_better_than_its_neighbours_in_the_code_of_phones(epsilon):
    proxy = people()
    sizes, counted = scaled(proxy), weights(proxy)
    best = clip_by_grid(proxy, counted, sizes.by_row, epsilon=epsilon)

    def error(clip: float) -> float:
        mechanism = GroupScaling(("activity",), sizes.named, clip)
        return expected_error(mechanism, proxy, counted, epsilon=epsilon, max_rows=64).mean

    assert error(best) < min(error(best * 0.7), error(best * 1.4))


def test_the_best_bound_grows_with_epsilon():
    proxy = people()
    sizes = scaled(proxy).by_row
    clips = [clip_by_grid(proxy, weights(proxy), sizes, epsilon=e) for e in (0.25, 1, 4, 16)]
    assert clips == sorted(clips)
    assert clips[-1] > 1.5 * clips[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_fit_is_of_valid_parameters(name):
    proxy = people()
    found = fit(name)
    assert build_for(found, proxy.cells, proxy.metrics).sensitivity == 2**20


def test_joint_clipping_has_one_bound_for_all():
    found = fit("joint_clipping")
    assert isinstance(found, JointClipping)


def test_a_fit_that_is_not_there_is_named():
    with pytest.raises(Problem, match="no fit for 'gaussian'"):
        fitted("gaussian", scaled(people()), weights(people()), epsilon=2.0, rotate_by=BY)
