"""Group-By-Sum: exact in any order, each sum counted once, nothing shown."""

import pickle
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.core import group_by_sum
from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.core.interface import Verdict
from aggregation.errors import Problem
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.part import Part, Parts
from tests.aggregation.core.test_checks import BAD, part

SMALL = Params(cells=324, metrics=3, max_rows=64, min_contributions=0)
# Enough cells to hold only those that are touched.
LARGE = replace(SMALL, cells=5000)
BOTH = pytest.mark.parametrize("params", [SMALL, LARGE], ids=["small domain", "large domain"])


def filled(params: Params, *parts: Part) -> GroupBySum:
    core = GroupBySum(params)
    for one in parts:
        assert core.accumulate(one) is Verdict.ACCEPTED
    return core


def plain_sum(params: Params, parts: list[Part]) -> list[list[int]]:
    total = [[0] * params.metrics for _ in range(params.cells)]
    for one in parts:
        for rank, row in zip(one.ranks.tolist(), one.values.tolist(), strict=True):
            total[rank] = [a + b for a, b in zip(total[rank], row, strict=True)]
    return total


@BOTH
def test_it_works(params: Params) -> None:
    core = filled(
        params, part([1, 7], [[1, 2, 3], [4, 5, 6]]), part([7], [[1, -1, 0]]), part([], [])
    )
    assert core.contributions == 3
    report = core.report()
    assert report.contributions == 3
    assert report.sums.shape == (params.cells, 3)
    assert report.sums[[1, 7]].tolist() == [[1, 2, 3], [5, 4, 6]]
    assert report.sums.sum() == 21


@BOTH
@pytest.mark.parametrize("name", BAD)
def test_a_refused_part_changes_nothing(params: Params, name: str) -> None:
    bad, _ = BAD[name]
    if params is LARGE and name == "rank outside":
        bad = part([5000], [[1, 0, 0]])
    core = filled(params, part([3], [[1, 1, 1]]))
    assert core.accumulate(bad) is not Verdict.ACCEPTED
    assert core.contributions == 1
    assert core.report().sums.sum() == 3


def draw_part(ranks: list[int], numbers: list[int]) -> Part:
    chosen = sorted(set(ranks))
    rows = [[numbers[(i + m) % len(numbers)] for m in range(3)] for i in range(len(chosen))]
    return part(chosen, rows)


parts_of = st.lists(
    st.builds(
        draw_part,
        st.lists(st.integers(0, 323), max_size=8),
        st.lists(st.integers(-(2**15), 2**15), min_size=1, max_size=5),
    ),
    max_size=12,
)
params_of = st.sampled_from([SMALL, LARGE])


@given(params=params_of, parts=parts_of, seed=st.randoms(use_true_random=False))
def test_any_order_and_any_grouping_gives_the_same_exact_sum(params, parts, seed) -> None:
    expected = plain_sum(params, parts)
    shuffled = list(parts)
    seed.shuffle(shuffled)
    cut = seed.randint(0, len(shuffled))
    left, right = filled(params, *shuffled[:cut]), filled(params, *shuffled[cut:])
    right.merge(left)
    assert right.contributions == len(parts)
    batched = GroupBySum(params)
    assert not batched.accumulate_batch(Parts.of(shuffled, metrics=3)).any()
    raw = filled(params, *parts).serialise()
    assert right.serialise() == batched.serialise() == raw
    assert GroupBySum.parse(raw, params).report().sums.tolist() == expected


@given(params=params_of, a=parts_of, b=parts_of, c=parts_of)
def test_merging_is_associative_and_commutative(params, a, b, c) -> None:
    def merged(*cores: GroupBySum) -> GroupBySum:
        first, *others = cores
        for other in others:
            first.merge(other)
        return first

    one = merged(merged(filled(params, *a), filled(params, *b)), filled(params, *c))
    two = merged(filled(params, *c), merged(filled(params, *b), filled(params, *a)))
    assert one.serialise() == two.serialise()


def test_a_batch_leaves_out_what_is_refused() -> None:
    good = part([3], [[1, 1, 1]])
    bad = [refused for refused, _ in BAD.values()]
    core = GroupBySum(SMALL)
    verdicts = core.accumulate_batch(Parts.of([good, *bad, good], metrics=3))
    assert (verdicts == Verdict.ACCEPTED).tolist() == [True, *[False] * len(bad), True]
    assert core.contributions == 2
    assert core.report().sums.sum() == 6


def test_a_batch_counts_only_among_those_marked() -> None:
    good = part([3], [[1, 1, 1]])
    core = GroupBySum(SMALL)
    bad = BAD["same rank twice"][0]
    batch = Parts.of([good, bad, good, bad], metrics=3)
    verdicts = core.accumulate_batch(batch, among=np.array([False, True, True, False]))
    assert verdicts.tolist() == [
        Verdict.OTHER_PART_REFUSED,
        Verdict.UNSORTED_RANKS,
        Verdict.ACCEPTED,
        Verdict.UNSORTED_RANKS,
    ]
    assert core.contributions == 1


@BOTH
def test_what_is_changed_after_it_was_checked_changes_no_sum(params: Params) -> None:
    one = part([3], [[1, 1, 1]])
    core = filled(params, one)
    one.ranks[:], one.values[:] = 4, GRID
    assert core.report().sums[3:5].tolist() == [[1, 1, 1], [0, 0, 0]]


def test_only_touched_cells_are_held_until_they_are_many() -> None:
    core = filled(LARGE, *[part([rank], [[1, 0, 0]]) for rank in range(0, 1250, 2)])
    assert core.touched_cells == 625  # one in eight
    core.accumulate(part([4999], [[1, 0, 0]]))
    assert core.touched_cells == 5000
    assert core.report().sums.sum() == 626


def test_the_bytes_do_not_tell_who_came_first() -> None:
    first, second = part([500], [[1, 0, 0]]), part([2], [[0, 1, 0]])
    assert filled(LARGE, first, second).serialise() == filled(LARGE, second, first).serialise()


@BOTH
def test_a_sum_leaves_a_core_once(params: Params) -> None:
    for consume in (GroupBySum.report, GroupBySum.serialise, GroupBySum(params).merge):
        core = filled(params, part([1], [[1, 1, 1]]))
        consume(core)
        for again in (GroupBySum.report, GroupBySum.serialise, GroupBySum(params).merge):
            with pytest.raises(Problem, match="already"):
                again(core)
        with pytest.raises(Problem, match="already"):
            core.accumulate(part([1], [[1, 1, 1]]))
        with pytest.raises(Problem, match="already"):
            core.accumulate_batch(Parts.of([part([1], [[1, 1, 1]])], metrics=3))


def test_a_core_is_not_merged_with_itself_or_with_another_tasks() -> None:
    core = filled(SMALL, part([1], [[1, 1, 1]]))
    with pytest.raises(Problem, match="itself"):
        core.merge(core)
    other = GroupBySum(replace(SMALL, cells=325))
    with pytest.raises(Problem, match="different tasks"):
        core.merge(other)
    assert core.report().sums.sum() == 3


def test_a_small_sum_stays_in_memory_but_is_not_lost() -> None:
    params = replace(SMALL, min_contributions=2)
    core = filled(params, part([1], [[1, 1, 1]]))
    assert not core.can_report()
    with pytest.raises(Problem, match="Too few"):
        core.report()
    with pytest.raises(Problem, match="Too few"):
        core.serialise()
    successor = filled(params, part([2], [[1, 1, 1]]))
    successor.merge(GroupBySum.parse(core.serialise(small=True), params))
    assert successor.can_report()
    assert successor.report().sums.sum() == 6


def test_the_release_takes_sums_of_any_size() -> None:
    params = replace(SMALL, min_contributions=1000)
    total = GroupBySum(params.without_threshold())
    total.merge(filled(params, part([1], [[1, 1, 1]])))
    assert total.report().sums.sum() == 3


def test_sums_keep_clear_of_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_by_sum, "_HEAD_ROOM", 2 * GRID)
    one = part([1], [[GRID, 0, 0]])
    core = filled(SMALL, one, one)
    with pytest.raises(Problem, match="head-room"):
        core.accumulate(one)
    with pytest.raises(Problem, match="head-room"):
        core.accumulate_batch(Parts.of([one], metrics=3))
    with pytest.raises(Problem, match="head-room"):
        core.merge(filled(SMALL, one))
    raw = core.serialise()
    monkeypatch.setattr(group_by_sum, "_HEAD_ROOM", 2 * GRID - 1)
    with pytest.raises(Problem, match="head-room"):
        GroupBySum.parse(raw, SMALL)
    monkeypatch.setattr(group_by_sum, "_HEAD_ROOM", 2 * GRID)
    assert GroupBySum.parse(raw, SMALL).report().sums[1, 0] == 2 * GRID


def test_it_refuses_bytes_that_are_no_partial_of_this_task() -> None:
    raw = filled(LARGE, part([1, 2], [[1, 1, 1], [2, 2, 2]])).serialise()
    assert GroupBySum.parse(raw, LARGE).contributions == 1
    forged = [
        raw[:-1],
        raw + b"x",
        b"",
        b"\x00" * 40,
        raw.replace(b"contributions", b"contributionz"),
    ]
    forged.append(raw.replace(bytes([1, 0, 0, 0, 2, 0, 0, 0]), bytes([2, 0, 0, 0, 1, 0, 0, 0])))
    forged.append(raw.replace(bytes([2, 0, 0, 0, 0, 0, 0, 0]), b"\xff" * 7 + b"\x7f", 1))
    for bad in forged:
        with pytest.raises(Problem, match="not a partial"):
            GroupBySum.parse(bad, LARGE)
    for other in (SMALL, replace(LARGE, metrics=2), replace(LARGE, cells=5001)):
        with pytest.raises(Problem, match="not a partial"):
            GroupBySum.parse(raw, other)


def test_one_row_does_not_stand_for_every_cell() -> None:
    document = msgspec.msgpack.decode(filled(SMALL, part([1], [[1, 1, 1]])).serialise())
    assert document["ranks"] is None
    document["sums"] = document["sums"][: 8 * SMALL.metrics]
    with pytest.raises(Problem, match="not a partial"):
        GroupBySum.parse(msgspec.msgpack.encode(document), SMALL)


def test_no_partial_has_less_than_no_contributions() -> None:
    """Without cells there is no sum that such a count could contradict."""
    document = msgspec.msgpack.decode(GroupBySum(LARGE).serialise())
    assert (document["ranks"], document["contributions"]) == (b"", 0)
    document["contributions"] = -1
    with pytest.raises(Problem, match="not a partial"):
        GroupBySum.parse(msgspec.msgpack.encode(document), LARGE)


def test_nothing_is_shown() -> None:
    core = filled(SMALL, part([1], [[4711, 1, 1]]))
    shown = repr(core) + str(core) + f"{core.params}" + repr(core.report())
    assert "4711" not in shown
    assert "contributions=1" not in shown


def test_a_core_is_not_pickled_by_accident() -> None:
    """What a job queue or a cache would do with an argument."""
    with pytest.raises(TypeError):
        pickle.dumps(GroupBySum(SMALL))
