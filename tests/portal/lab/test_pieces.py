"""Pieces in several processes give what one process gives, and their faults come back."""

import os
import signal
from multiprocessing.process import BaseProcess

import numpy as np
import pytest

from aggregation.errors import Problem
from aggregation.ondevice.bounding import Rows
from portal.lab.calibrating.spreading import spread
from portal.lab.pieces import worked_off

DEVICES = 12_000


def rows(first, end):
    """Device i has i % 3 rows."""
    counts = np.arange(first, end) % 3
    offsets = np.concatenate([[0], np.cumsum(counts)])
    ranks = np.repeat(np.arange(first, end), counts)
    return Rows(offsets, ranks, ranks[:, None] * 1.0)


def squared(number, tell):
    tell(0.5)
    tell(1.0)
    return number**2, os.getpid()


def refused(number, tell):
    raise Problem("This does not go.")


def dies(number, tell):
    os._exit(3)


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_devices_are_in_their_order(processes):
    shares = []
    found = spread(DEVICES, rows, shares.append, processes=processes)
    whole = rows(0, DEVICES)
    for name in ("offsets", "ranks", "values"):
        assert np.array_equal(getattr(found, name), getattr(whole, name))
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_results_are_in_the_order_of_the_pieces(processes):
    shares = []
    found = worked_off(
        range(5), squared, shares.append, processes=processes, efforts=[1, 2, 3, 4, 5]
    )
    assert [result for result, _ in found] == [0, 1, 4, 9, 16]
    assert (os.getpid() in {who for _, who in found}) is (processes == 1)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_problem_comes_back_as_it_is(processes):
    with pytest.raises(Problem, match="This does not go"):
        worked_off([1, 2], refused, lambda _: None, processes=processes)


def test_a_process_that_dies_is_noticed():
    with pytest.raises(Problem, match="ended before it was done"):
        worked_off([1, 2], dies, lambda _: None, processes=2)


def test_helpers_end_when_told_whatever_their_parent_does_then(monkeypatch):
    """Else each would be waited for, and killed."""
    killed, kill = [], BaseProcess.kill
    monkeypatch.setattr(BaseProcess, "kill", lambda self: (killed.append(self), kill(self)))
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        worked_off([1, 2], squared, lambda _: None, processes=2)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not killed


@pytest.mark.parametrize("processes", [1, 2])
def test_who_watches_can_end_it(processes):
    def enough(share):
        if share > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        worked_off(range(4), squared, enough, processes=processes)
