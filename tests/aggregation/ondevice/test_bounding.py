"""Contribution bounding: whatever a query gives, one device's integers stay within K."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.mechanisms import Arithmetic, build_for
from aggregation.ondevice import bounding
from aggregation.ondevice.bounding import Rows, _checked, bound, bound_one
from aggregation.protocol.anonymization import GRID, JointClipping
from aggregation.protocol.part import Part
from tests.aggregation.mechanisms.examples import CELLS, KINDS, METRICS, mechanisms

BUILT = {kind: build_for(mechanism, CELLS, METRICS) for kind, mechanism in mechanisms().items()}
PLAIN = build_for(JointClipping(clip=1.0), CELLS, ("n",))

AWKWARD = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e-300, 1.0, -1.0, 1e9, 1e18, 1e300, -1.7e308]
AWKWARD += [math.inf, -math.inf, math.nan, float(-(2**63)), float(2**63), 2.0**53 + 2]

number = st.one_of(st.floats(), st.sampled_from(AWKWARD), st.floats(0, 1e4))
rows_of_numbers = st.lists(st.tuples(number, number, number), max_size=80)
kinds = st.sampled_from(KINDS)


def assert_bounded(part: Part, *, cells: int = CELLS.size) -> None:
    """What the session demands of a part, in Python's unbounded integers."""
    ranks, values = part.ranks.tolist(), part.values.tolist()
    assert part.ranks.dtype == np.uint32
    assert part.values.dtype == np.int64
    assert all(a < b for a, b in itertools.pairwise(ranks))
    assert all(0 <= rank < cells for rank in ranks)
    assert all(-GRID <= q <= GRID for row in values for q in row)
    assert sum(abs(q) for row in values for q in row) <= GRID
    assert all(any(row) for row in values)  # nothing is sent about cells that got nothing


def bounded(arithmetic: Arithmetic, values: list, *, max_rows: int = 64) -> Part:
    array = np.array(values, dtype=np.float64).reshape(len(values), len(arithmetic.metrics))
    return bound_one(arithmetic, np.arange(len(array)), array, max_rows=max_rows)


def test_it_works() -> None:
    part = bounded(PLAIN, [[0.25], [0.5], [0.0]])
    assert part.ranks.tolist() == [0, 1]
    assert part.values.tolist() == [[GRID // 4], [GRID // 2]]


@given(kind=kinds, values=rows_of_numbers, max_rows=st.integers(1, 64))
def test_any_result_is_bounded(kind: str, values: list, max_rows: int) -> None:
    part = bounded(BUILT[kind], values, max_rows=max_rows)
    assert_bounded(part)
    assert len(part.ranks) <= max_rows


# Not always 64: a power of two divides the grid, and nothing is rounded.
extras = st.lists(st.floats(0, 1e-9), min_size=50, max_size=90)


@given(kind=kinds, base=st.floats(1, 1e6), extras=extras)
def test_many_near_equal_values_are_bounded_and_not_lost(
    kind: str, base: float, extras: list[float]
) -> None:
    values = [[base + e, base, base - e / 2] for e in extras]
    part = bounded(BUILT[kind], values, max_rows=90)
    assert_bounded(part)
    assert len(part.ranks) == len(values)


def test_values_that_only_rounding_lifts_over_the_bound_are_not_lost() -> None:
    """Together just below K, but rounded one by one they would be K + 1."""
    whole = (GRID // 3, GRID // 3, GRID - 2 - 2 * (GRID // 3))
    fractions = (0.6, 0.6, 0.7)
    part = bounded(PLAIN, [[(w + f) / GRID] for w, f in zip(whole, fractions, strict=True)])
    assert_bounded(part)
    assert len(part.ranks) == 3


@pytest.mark.parametrize("times", [1.001, 1.5])
def test_the_comparison_alone_keeps_the_bound(
    times: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were the scaling wrong, the device would send zero: the guarantee does not rest on it."""
    scaling = bounding._factors
    monkeypatch.setattr(bounding, "_factors", lambda *given: times * scaling(*given))
    assert not bounded(PLAIN, [[3.0], [4.0], [5.0]]).values.any()


def test_near_equal_values_catch_a_clip_that_leaves_no_room_for_rounding() -> None:
    """The mutant: scale to the whole grid, then round. Inputs like those above tell it apart."""
    rng = np.random.default_rng(8)
    over = 0
    for count in range(50, 90):
        u = rng.uniform(1, 10) + rng.uniform(0, 1e-9, count)
        mutant = np.rint(u * GRID / u.sum()).astype(np.int64)
        over += int(np.abs(mutant).sum()) > GRID
        assert_bounded(bounded(PLAIN, u[:, None].tolist(), max_rows=90))
    assert over > 10


@given(kind=kinds, values=rows_of_numbers)
def test_a_result_that_is_not_finite_becomes_the_zero_update(kind: str, values: list) -> None:
    for bad in (math.nan, math.inf, -math.inf):
        part = bounded(BUILT[kind], [*values[:20], (1.0, bad, 1.0)])
        assert len(part.ranks) == 0
        assert part.values.shape == (0, 3)


def test_a_result_that_is_not_finite_is_noticed_among_too_many_rows() -> None:
    values = [[float(n)] for n in range(100)]
    assert len(bounded(PLAIN, [[math.nan], *values], max_rows=10).ranks) == 0
    assert len(bounded(PLAIN, [[math.inf], *values], max_rows=10).ranks) == 0


def test_finite_values_whose_sum_is_not_become_the_zero_update() -> None:
    assert len(bounded(PLAIN, [[1.7e308], [1.7e308]]).ranks) == 0


def test_one_share_whose_sum_is_not_finite_zeroes_the_whole_update() -> None:
    arithmetic = build_for(mechanisms(wide=1 / 24)["budget_split"], CELLS, METRICS)
    fine = bounded(arithmetic, [[1e308, 0, 0], [0, 1, 1]])
    assert len(fine.ranks) == 2
    assert len(bounded(arithmetic, [[1e308, 0, 0], [1e308, 0, 0], [0, 1, 1]]).ranks) == 0


def test_more_numbers_than_the_grid_can_round_become_the_zero_update() -> None:
    values = np.full((2 * GRID + 10, 1), 1e-12)
    values[0] = 1000
    assert len(bound_one(PLAIN, np.arange(len(values)), values, max_rows=3 * GRID).ranks) == 0


def test_the_last_check_compares_before_it_sums() -> None:
    """Straight at the check: nothing that breaks the bound passes, whatever made it."""
    whole = [[1.0, GRID - 1], [1, GRID], [-(2.0**63), 0], [math.nan, 1], [-GRID, 0], [-GRID - 1, 0]]
    checked = _checked(np.array(whole), np.arange(6), 6, bound=GRID)
    assert checked.tolist() == [[1, GRID - 1], [0, 0], [0, 0], [0, 0], [-GRID, 0], [0, 0]]
    together = _checked(np.array([[GRID / 2], [GRID / 2], [1]]), np.zeros(3, int), 1, bound=GRID)
    assert not together.any()
    # As int64 these are the smallest number of all, which is its own absolute value.
    huge = np.array([[np.inf], [1e300], [2.0**63], [-np.inf], [-(2.0**63)]])
    assert not _checked(huge, np.arange(5), 5, bound=GRID).any()


@pytest.mark.parametrize("size", [1e-300, 5e-324, 1e300, 1e308])
def test_one_extreme_value_is_bounded(size: float) -> None:
    for kind in KINDS:
        assert_bounded(bounded(BUILT[kind], [[size, 0, 0]]))
    assert_bounded(bounded(PLAIN, [[size], [-size]]))


def _by_the_book(u: list[float], units: int) -> list[int]:
    """The rule as it is written down, for one device and one clip group."""
    t, nonzero = math.fsum(map(abs, u)), sum(x != 0 for x in u)
    limit = units - nonzero / 2 - 1
    factor = units if t * units <= limit else limit / t
    return [round(x * factor) for x in u]


@given(values=st.lists(st.floats(-3, 3), min_size=1, max_size=64))
def test_joint_clipping_goes_by_the_book(values: list[float]) -> None:
    part = bounded(PLAIN, [[v] for v in values])
    expected = np.array(_by_the_book(values, GRID))
    got = np.zeros(len(values), dtype=np.int64)
    got[part.ranks] = part.values[:, 0]
    # Sums in another order differ in the last bit, which can move a half to its other neighbour.
    assert np.abs(got - expected).max() <= 1


def test_budget_split_clips_each_slice_and_metric_alone() -> None:
    arithmetic = BUILT["budget_split"]
    ranks = np.array([0, 1, 3])  # two directions of walking, one of running
    values = np.array([[240.0, 1.0, 0.0], [240.0, 2.0, 0.0], [2.4, 4100.0, 1.0]])
    part = bound_one(arithmetic, ranks, values, max_rows=64)
    assert_bounded(part)
    units = GRID // 27
    limit = (units - 2) / 2  # two nonzero trips share one clipped bound
    assert part.values[:2, 0].tolist() == [round(limit), round(limit)]
    assert part.values[:2, 1].tolist() == [round(units / 410), round(2 * units / 410)]
    assert part.values[2].tolist() == [round(units / 10), round(units - 1.5), round(units / 620)]
    groups = arithmetic.clip_groups(part.ranks)
    assert groups is not None
    per_share = np.bincount(groups.ravel(), np.abs(part.values).ravel())
    assert per_share.max() <= units


def test_it_keeps_the_largest_rows_and_of_equal_ones_the_lower_rank() -> None:
    values = [[0.1], [0.3], [0.1], [0.2], [0.1]]
    part = bounded(PLAIN, values, max_rows=3)
    assert part.ranks.tolist() == [0, 1, 3]


def test_the_largest_rows_are_the_largest_after_encoding() -> None:
    values = np.array([[0.0, 100.0, 0.0], [20.0, 0.0, 0.0]])  # 100/410 of a scale, 20/24 of one
    part = bound_one(BUILT["group_scaling"], np.array([0, 1]), values, max_rows=1)
    assert part.ranks.tolist() == [1]


def test_rows_of_one_cell_are_summed_before_the_clip() -> None:
    twice = bound_one(PLAIN, np.array([7, 3, 7]), np.array([[0.25], [0.1], [0.25]]), max_rows=2)
    once = bound_one(PLAIN, np.array([3, 7]), np.array([[0.1], [0.5]]), max_rows=2)
    assert twice.ranks.tolist() == once.ranks.tolist() == [3, 7]
    assert twice.values.tolist() == once.values.tolist()


def _ragged(rng: np.random.Generator, devices: int, metrics: int) -> Rows:
    counts = rng.integers(0, 9, devices)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    total = int(offsets[-1])
    values = rng.lognormal(0, 4, (total, metrics))
    values[rng.random(total) < 0.02] = np.nan
    return Rows(offsets, rng.integers(0, CELLS.size, total), values)


@pytest.mark.parametrize("metrics", [1, 3, 12])
@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_out_for_a_device_does_not_depend_on_its_batch(kind: str, metrics: int) -> None:
    names = tuple(f"m{i}" for i in range(metrics))
    arithmetic = build_for(mechanisms(names)[kind], CELLS, names)
    rows = _ragged(np.random.default_rng(metrics), 400, metrics)
    parts = bound(arithmetic, rows, max_rows=5)
    assert len(parts) == 400
    for device in range(400):
        own = slice(rows.offsets[device], rows.offsets[device + 1])
        alone = bound_one(arithmetic, rows.ranks[own], rows.values[own], max_rows=5)
        assert_bounded(alone)
        assert parts[device].ranks.tolist() == alone.ranks.tolist()
        assert parts[device].values.tolist() == alone.values.tolist()


def test_a_batch_larger_than_a_chunk_is_bounded_device_by_device() -> None:
    rows = _ragged(np.random.default_rng(2), 40_000, 3)
    for kind in ("group_scaling", "budget_split"):
        parts = bound(BUILT[kind], rows, max_rows=5)
        assert len(parts) == 40_000
        sizes = np.bincount(
            np.repeat(np.arange(40_000), np.diff(parts.offsets)), np.abs(parts.values).sum(axis=1)
        )
        assert sizes.max() <= GRID
        for device in (0, 16_383, 16_384, 39_999):
            own = slice(rows.offsets[device], rows.offsets[device + 1])
            alone = bound_one(BUILT[kind], rows.ranks[own], rows.values[own], max_rows=5)
            assert parts[device].values.tolist() == alone.values.tolist()


def test_no_rows_are_the_zero_update() -> None:
    part = bounded(PLAIN, [])
    assert len(part.ranks) == 0
    empty = Rows(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty((0, 1)))
    assert len(bound(PLAIN, empty, max_rows=3)) == 0


def test_contributions_are_not_shown() -> None:
    rows = Rows(np.array([0, 1]), np.array([987]), np.array([[654.0]]))
    shown = repr(rows) + repr(bound(PLAIN, rows, max_rows=3)) + repr(bounded(PLAIN, [[321.0]]))
    assert not any(digits in shown for digits in ("987", "654", "321"))
