"""Encode and decode of all four mechanisms, beside the formulas they stand for."""

import numpy as np
import pytest

from aggregation.errors import Problem
from aggregation.mechanisms import build, build_for
from aggregation.protocol.anonymization import GRID, GroupScaling, JointClipping
from aggregation.protocol.client_task import Key
from aggregation.protocol.ranks import Cells
from tests.aggregation.mechanisms.examples import CELLS, DOMAINS, KEYS, KINDS, METRICS, mechanisms

RANKS = np.array([0, 5, 26, 27, 300, 323])
VALUES = np.random.default_rng(3).lognormal(1, 1, (6, 3))


@pytest.mark.parametrize("kind", KINDS)
def test_decode_undoes_encode(kind: str) -> None:
    arithmetic = build(mechanisms()[kind], KEYS, METRICS, DOMAINS.__getitem__)
    units = arithmetic.encode(RANKS, VALUES) * arithmetic.units
    exact = arithmetic.decode_cells(RANKS, (units * 2**30).astype(np.int64)) / 2**30
    np.testing.assert_allclose(exact, VALUES, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_decode_of_all_cells_is_decode_of_each(kind: str) -> None:
    arithmetic = build_for(mechanisms(correction=1.2)[kind], CELLS, METRICS)
    sums = np.random.default_rng(4).integers(-(10**9), 10**9, (CELLS.size, 3))
    ranks = np.arange(CELLS.size)
    np.testing.assert_array_equal(arithmetic.decode(sums), arithmetic.decode_cells(ranks, sums))
    tail = arithmetic.decode(sums[100:], first=100)
    np.testing.assert_array_equal(tail, arithmetic.decode(sums)[100:])


@pytest.mark.parametrize("kind", KINDS)
def test_sensitivity_is_the_grid_for_everyone(kind: str) -> None:
    arithmetic = build_for(mechanisms()[kind], CELLS, METRICS)
    assert arithmetic.sensitivity == GRID == 2**20
    assert arithmetic.units * arithmetic.shares <= GRID


def test_joint_clipping_divides_by_the_clip() -> None:
    arithmetic = build_for(JointClipping(clip=50.0), CELLS, METRICS)
    np.testing.assert_allclose(arithmetic.encode(RANKS, VALUES), VALUES / 50)
    assert arithmetic.decode(np.array([[GRID, 0, 0]]))[0, 0] == pytest.approx(50)


def test_group_scaling_divides_by_scale_and_clip_of_the_cells_own_slice() -> None:
    chosen = mechanisms()["group_scaling"]
    assert isinstance(chosen, GroupScaling)
    scales = {
        a: {m: v * (i + 1) for m, v in row.items()}
        for i, (a, row) in enumerate(chosen.scales.items())
    }
    arithmetic = build_for(GroupScaling(("activity",), scales, 2.0), CELLS, METRICS)
    encoded = arithmetic.encode(RANKS, VALUES)
    for row, rank in enumerate(RANKS):
        own = scales[str(CELLS.values(int(rank))[1])]
        np.testing.assert_allclose(encoded[row], VALUES[row] / [own[m] * 2 for m in METRICS])


def test_budget_split_gives_each_slice_and_metric_its_share() -> None:
    arithmetic = build_for(mechanisms()["budget_split"], CELLS, METRICS)
    assert arithmetic.shares == 27
    assert arithmetic.units == GRID // 27
    groups = arithmetic.clip_groups(np.arange(27))
    assert groups is not None
    assert groups[:3].tolist() == [[0, 1, 2]] * 3  # three directions of walking
    assert groups[3].tolist() == [3, 4, 5]  # running
    assert arithmetic.decode(np.array([[arithmetic.units, 0, 0]]))[0, 0] == pytest.approx(24)


def test_rotated_decodes_with_the_inverse_and_the_correction() -> None:
    plain = build_for(mechanisms()["rotated"], CELLS, METRICS)
    corrected = build_for(mechanisms(correction=1.5)["rotated"], CELLS, METRICS)
    sums = np.random.default_rng(5).integers(-(10**6), 10**6, (CELLS.size, 3))
    np.testing.assert_allclose(corrected.decode(sums), plain.decode(sums) * 1.5)
    np.testing.assert_allclose(corrected.encode(RANKS, VALUES), plain.encode(RANKS, VALUES))


def test_slices_follow_the_order_of_their_columns_not_of_the_keys() -> None:
    scales = {
        f"{d}/{a}": dict.fromkeys(METRICS, float(10 * i + j + 1))
        for i, d in enumerate(CELLS.domains[2])
        for j, a in enumerate(CELLS.domains[1])
    }
    arithmetic = build_for(GroupScaling(("direction", "activity"), scales, 1.0), CELLS, METRICS)
    for rank in (0, 1, 5, 26, 323):
        _, activity, direction = CELLS.values(rank)
        encoded = arithmetic.encode(np.array([rank]), np.ones((1, 3)))
        assert encoded[0, 0] == pytest.approx(1 / scales[f"{direction}/{activity}"]["num_trips"])


def test_a_task_without_keys_has_one_cell_and_one_slice() -> None:
    nothing = Cells.of((), DOMAINS.__getitem__)
    assert nothing.size == 1
    scales = {"all": {"n": 4.0}}
    arithmetic = build_for(GroupScaling((), scales, 1.0), nothing, ("n",))
    assert arithmetic.encode(np.array([0]), np.array([[2.0]]))[0, 0] == 0.5


def test_it_refuses_to_build_what_has_problems() -> None:
    with pytest.raises(Problem, match=r"clip bound is -1\.0"):
        build(JointClipping(clip=-1.0), KEYS, METRICS, DOMAINS.__getitem__)


def test_it_refuses_a_domain_that_is_not_the_named_one() -> None:
    wrong = Key(name="region", domain="0" * 64, count=3, values=("a", "b", "c"))
    with pytest.raises(Problem, match="not the one the task names"):
        build(JointClipping(clip=1.0), (wrong,), METRICS, DOMAINS.__getitem__)
