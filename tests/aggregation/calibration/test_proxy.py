"""A proxy population knows its true sums, and refuses what no fit can use."""

import numpy as np
import pytest

from aggregation.errors import Problem
from tests.aggregation.calibration.examples import tiny


def test_it_knows_its_sums_and_who_contributed():
    proxy = tiny([(0, 1, 2.0), (3, 1, 50.0)], [(0, 2, 3.0)])
    assert proxy.seen.tolist() == [0, 3]
    assert proxy.truth.tolist() == [[3, 5], [1, 50]]
    assert proxy.contributors.tolist() == [2, 1]


def test_what_a_device_has_twice_in_a_cell_is_added_up():
    proxy = tiny([(3, 1, 4.0), (0, 1, 2.0), (3, 2, 6.0)], [(1, 1, 1.0)])
    assert proxy.rows.ranks.tolist() == [0, 3, 1]
    assert proxy.rows.values.tolist() == [[1, 2], [3, 10], [1, 1]]
    assert proxy.rows.offsets.tolist() == [0, 2, 3]


def test_it_shows_nobody():
    assert "50" not in repr(tiny([(3, 1, 50.0)]))


def test_it_refuses_what_is_no_number_and_what_is_nothing():
    with pytest.raises(Problem, match="not a number"):
        tiny([(0, 1, np.nan)])
    with pytest.raises(Problem, match="no device"):
        tiny([])
