"""Work spread over processes gives what one process gives, and its faults come back."""

import numpy as np
import pytest

from aggregation.errors import Problem
from aggregation.ondevice.bounding import Rows
from portal.lab.calibrating.spreading import spread

DEVICES = 12_000


def work(first: int, end: int) -> Rows:
    """Device i has i % 3 rows."""
    counts = np.arange(first, end) % 3
    offsets = np.concatenate([[0], np.cumsum(counts)])
    ranks = np.repeat(np.arange(first, end), counts)
    return Rows(offsets, ranks, ranks[:, None] * 1.0)


def refused(first: int, end: int) -> Rows:
    raise Problem("This does not go.")


def dies(first: int, end: int) -> Rows:
    raise SystemExit(3)


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_it_is_the_same_in_any_number_of_processes(processes):
    shares: list[float] = []
    found = spread(DEVICES, work, shares.append, processes=processes)
    whole = work(0, DEVICES)
    for name in ("offsets", "ranks", "values"):
        assert np.array_equal(getattr(found, name), getattr(whole, name))
    assert shares == [0.0, 1 / 3, 2 / 3, 1.0]


def test_a_problem_comes_back_as_it_is():
    with pytest.raises(Problem, match="This does not go"):
        spread(DEVICES, refused, lambda _: None, processes=2)


def test_a_process_that_dies_is_noticed():
    with pytest.raises(Problem, match="ended before it was done"):
        spread(DEVICES, dies, lambda _: None, processes=2)


def test_who_watches_can_end_it():
    def enough(share: float) -> None:
        if share > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spread(DEVICES, work, enough, processes=2)
