"""The paper's error: cells with enough devices, by their share of their region's trips."""

import numpy as np
import pytest

from aggregation.calibration.weighing import Weights
from aggregation.errors import Problem
from tests.aggregation.calibration.examples import tiny


def test_cells_weigh_what_they_are_of_their_region():
    proxy = tiny([(0, 3, 1.0), (1, 1, 1.0), (2, 5, 1.0)])
    found = Weights.of(proxy, least_devices=1)
    # Region a: walking 3/4, driving 1/4. Region b: walking is all.
    assert found.share.tolist() == pytest.approx([3 / 8, 1 / 8, 1 / 2])


def test_the_error_is_the_weighted_mean_of_relative_errors():
    proxy = tiny([(0, 3, 10.0), (1, 1, 10.0)])
    found = Weights.of(proxy, least_devices=1).error(np.array([[0.3, -1.0], [0.2, 2.0]]))
    assert found.by_metric == pytest.approx({"trips": 0.75 * 0.1 + 0.25 * 0.2, "km": 0.125})
    assert found.mean == pytest.approx(np.mean(list(found.by_metric.values())))


def test_cells_of_few_devices_count_nothing():
    proxy = tiny([(0, 3, 10.0), (1, 1, 10.0)], [(0, 3, 10.0)])
    found = Weights.of(proxy, least_devices=2)
    assert found.places.tolist() == [0]
    assert found.share.tolist() == [1.0]
    with pytest.raises(Problem, match="No cell of the proxy data has 2,000 devices"):
        Weights.of(proxy)
