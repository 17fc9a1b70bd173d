"""The session's check: whatever breaks the bound is refused, by comparison before summing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.core.checks import Params, check, check_batch
from aggregation.core.interface import Verdict
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.part import Part, Parts

PARAMS = Params(cells=324, metrics=3, max_rows=64, min_contributions=10)
INT64_MIN = -(2**63)


def part(ranks: list[int], values: list[list[int]], metrics: int = 3) -> Part:
    array = np.array(values, dtype=np.int64).reshape(len(values), metrics)
    return Part(np.array(ranks, dtype=np.uint32), array)


GOOD = {
    "zero update": part([], []),
    "all of the bound": part([0, 323], [[GRID - 3, -1, 0], [1, 0, 1]]),
    "one negative value": part([5], [[-GRID, 0, 0]]),
    "as many rows as allowed": part(list(range(64)), [[1, 1, 1]] * 64),
}
BAD = {
    "one more than the bound": (part([0], [[GRID, 1, 0]]), Verdict.SUM_BEYOND_BOUND),
    "bound passed over two rows": (
        part([0, 1], [[GRID // 2, 0, 1], [GRID // 2, 0, 0]]),
        Verdict.SUM_BEYOND_BOUND,
    ),
    "value above": (part([0], [[GRID + 1, 0, 0]]), Verdict.VALUE_BEYOND_BOUND),
    "value below": (part([0], [[0, -GRID - 1, 0]]), Verdict.VALUE_BEYOND_BOUND),
    "smallest int64": (part([0], [[INT64_MIN, 0, 0]]), Verdict.VALUE_BEYOND_BOUND),
    "two smallest int64 cancel": (
        part([0], [[INT64_MIN, INT64_MIN, 0]]),
        Verdict.VALUE_BEYOND_BOUND,
    ),
    "sum wraps to zero": (part([0], [[2**62, 2**62, 0]]), Verdict.VALUE_BEYOND_BOUND),
    "sum wraps around": (part([0], [[2**63 - 1, 2**63 - 1, 2]]), Verdict.VALUE_BEYOND_BOUND),
    "rank outside": (part([324], [[1, 0, 0]]), Verdict.OUTSIDE_DOMAIN),
    "largest rank": (part([2**32 - 1], [[1, 0, 0]]), Verdict.OUTSIDE_DOMAIN),
    "same rank twice": (part([4, 4], [[1, 0, 0]] * 2), Verdict.UNSORTED_RANKS),
    "ranks go back": (part([4, 3], [[1, 0, 0]] * 2), Verdict.UNSORTED_RANKS),
    "too many rows": (part(list(range(65)), [[1, 0, 0]] * 65), Verdict.TOO_MANY_ROWS),
}


@pytest.mark.parametrize("name", GOOD)
def test_it_accepts(name: str) -> None:
    assert check(GOOD[name], PARAMS) is Verdict.ACCEPTED


@pytest.mark.parametrize("name", BAD)
def test_it_refuses(name: str) -> None:
    bad, verdict = BAD[name]
    assert check(bad, PARAMS) is verdict


@pytest.mark.parametrize(
    "odd",
    [
        Part(np.array([1], dtype=np.int64), np.zeros((1, 3), dtype=np.int64)),  # type: ignore[arg-type]
        Part(np.array([1], dtype=np.uint32), np.zeros((1, 3))),  # type: ignore[arg-type]
        Part(np.array([1], dtype=np.uint32), np.zeros((1, 2), dtype=np.int64)),
        Part(np.array([1], dtype=np.uint32), np.zeros((2, 3), dtype=np.int64)),
        Part(np.array([[1]], dtype=np.uint32), np.zeros((1, 3), dtype=np.int64)),
    ],
    ids=["rank type", "value type", "metrics", "lengths", "dimensions"],
)
def test_it_refuses_other_shapes(odd: Part) -> None:
    assert check(odd, PARAMS) is Verdict.WRONG_SHAPE
    batch = Parts(np.array([0, len(odd.ranks)]), odd.ranks, odd.values)
    assert check_batch(batch, PARAMS).tolist() == [Verdict.WRONG_SHAPE]


def test_a_batch_gets_the_verdicts_of_its_parts() -> None:
    parts = [*GOOD.values(), *(bad for bad, _ in BAD.values()), *GOOD.values()]
    verdicts = check_batch(Parts.of(parts, metrics=3), PARAMS)
    assert verdicts.tolist() == [check(one, PARAMS) for one in parts]


awkward = st.sampled_from([0, 1, -1, GRID, -GRID, GRID + 1, 2**62, 2**63 - 1, INT64_MIN])
values = st.one_of(st.integers(-GRID, GRID), awkward, st.integers(INT64_MIN, 2**63 - 1))
ranks = st.one_of(st.integers(0, 330), st.sampled_from([2**31, 2**32 - 1]))
rows = st.lists(st.tuples(ranks, st.tuples(values, values, values)), max_size=6)


def _made(drawn: list, *, ordered: bool) -> Part:
    chosen = sorted(dict(drawn).items()) if ordered else drawn
    return part([rank for rank, _ in chosen], [list(row) for _, row in chosen])


@given(st.lists(st.builds(_made, rows, ordered=st.booleans()), max_size=5))
def test_whatever_is_accepted_is_within_the_bound(parts: list[Part]) -> None:
    """In Python's integers, which do not wrap; one by one and in a batch alike."""
    params = replace(PARAMS, max_rows=5)
    verdicts = [check(one, params) for one in parts]
    assert check_batch(Parts.of(parts, metrics=3), params).tolist() == verdicts
    for one, verdict in zip(parts, verdicts, strict=True):
        numbers = one.values.ravel().tolist()
        order = one.ranks.tolist()
        fits = sum(map(abs, numbers)) <= GRID and order == sorted(set(order))
        fits = fits and len(order) <= 5 and all(rank < 324 for rank in order)
        assert (verdict is Verdict.ACCEPTED) == fits
