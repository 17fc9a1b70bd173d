"""The merge: exact whatever the order and the levels, each partial once, one open at a time."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.errors import Problem
from aggregation.partials.envelope import Label, seal_partial
from aggregation.partials.keys import KeyFolder
from aggregation.partials.merge import Stored, fold
from aggregation.protocol.part import Part
from aggregation.protocol.windows import Unit, Window

DAY = date(2026, 11, 16)
WEEK = Window.parse("2026-11-09", Unit.WEEK)
PARAMS = Params(cells=5000, metrics=2, max_rows=8, min_contributions=1)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> KeyFolder:
    return KeyFolder(tmp_path_factory.mktemp("keys") / "partials")


def label(number: int, **changes: object) -> Label:
    made = Label("partial", f"{number:032x}", "weekly-trips", WEEK, 1, f"{number:032x}")
    return replace(made, **changes)  # type: ignore[arg-type]


def core(*devices: dict[int, tuple[int, int]], params: Params = PARAMS) -> GroupBySum:
    made = GroupBySum(params)
    for rows in devices:
        ranks = np.array(sorted(rows), dtype=np.uint32)
        values = np.array([rows[rank] for rank in sorted(rows)], dtype=np.int64).reshape(-1, 2)
        made.accumulate(Part(ranks, values))
    return made


def stored(keys: KeyFolder, number: int, of: GroupBySum, **changes: object) -> Stored:
    own = label(number, **changes)
    envelope = seal_partial(of.serialise(), label=own, key=keys.for_sealing(own.key_name(DAY)))
    return Stored(own, DAY, envelope)


def test_it_works(keys: KeyFolder) -> None:
    one = stored(keys, 1, core({1: (1, 2), 4999: (5, -5)}, {1: (1, 0)}))
    two = stored(keys, 2, core({1: (10, 0)}))
    report = fold([one, two], keys=keys, params=PARAMS).report()
    assert report.contributions == 3
    assert report.sums[[1, 4999]].tolist() == [[12, 2], [5, -5]]
    assert report.sums.sum() == 14


rows = st.dictionaries(
    st.integers(0, 4999), st.tuples(st.integers(-999, 999), st.integers(-999, 999)), max_size=5
)


@given(
    drawn=st.lists(st.lists(rows, min_size=1, max_size=3), min_size=1, max_size=5),
    random=st.randoms(use_true_random=False),
)
def test_any_order_and_any_levels_give_the_same_exact_sum(keys, drawn, random) -> None:
    level = [stored(keys, number, core(*devices)) for number, devices in enumerate(drawn)]
    height = 1
    while len(level) > 1:
        random.shuffle(level)
        cut = random.randint(1, len(level))
        height += 1
        merged = fold(level[:cut], keys=keys, params=PARAMS)
        level = [stored(keys, 100 * height, merged, level=height, session=""), *level[cut:]]
    report = fold(level, keys=keys, params=PARAMS.without_threshold()).report()
    expected: dict[int, list[int]] = {}
    for devices in drawn:
        for own in devices:
            for rank, (a, b) in own.items():
                before = expected.get(rank, [0, 0])
                expected[rank] = [before[0] + a, before[1] + b]
    found = {rank: row for rank, row in enumerate(report.sums.tolist()) if any(row)}
    assert found == {rank: row for rank, row in expected.items() if any(row)}
    assert report.contributions == sum(map(len, drawn))


def test_a_partial_counts_once(keys: KeyFolder) -> None:
    one = stored(keys, 1, core({1: (1, 1)}))
    with pytest.raises(Problem, match="was to be counted twice"):
        fold([one, one], keys=keys, params=PARAMS)


@pytest.mark.parametrize("change", [{"task": "other-trips"}, {"window": WEEK.next()}])
def test_partials_of_another_task_or_window_are_refused(keys: KeyFolder, change: dict) -> None:
    ours, theirs = stored(keys, 1, core({1: (1, 1)})), stored(keys, 2, core({1: (1, 1)}), **change)
    for order in ([ours, theirs], [theirs, ours]):
        with pytest.raises(Problem, match="belongs to another window or task"):
            fold(order, keys=keys, params=PARAMS)


def test_a_tampered_one_stops_the_merge(keys: KeyFolder) -> None:
    good, bad = stored(keys, 1, core({1: (1, 1)})), stored(keys, 2, core({1: (1, 1)}))
    bad = replace(bad, envelope=bad.envelope[:-1] + bytes([bad.envelope[-1] ^ 1]))
    with pytest.raises(Problem, match=f"{bad.label.partial} does not open"):
        fold([good, bad], keys=keys, params=PARAMS)


def test_an_erased_key_stops_the_merge(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path / "partials")
    one = stored(keys, 1, core({1: (1, 1)}))
    keys.erase(one.label.key_name(DAY))
    with pytest.raises(Problem, match=r"The key for level 1 of weekly-trips.* has been erased"):
        fold([one], keys=keys, params=PARAMS)


def test_the_sum_of_another_task_is_not_merged(keys: KeyFolder) -> None:
    other = replace(PARAMS, cells=12)
    one = stored(keys, 1, core({1: (1, 1)}, params=other))
    with pytest.raises(Problem, match="not a partial of this task"):
        fold([one], keys=keys, params=PARAMS)


def test_nothing_folds_to_nothing(keys: KeyFolder) -> None:
    assert fold([], keys=keys, params=PARAMS.without_threshold()).report().contributions == 0


def test_it_holds_one_open_partial_however_many_there_are(keys: KeyFolder) -> None:
    wide = Params(cells=2_000, metrics=2, max_rows=2_000, min_contributions=1)
    each = 2_000 * 2 * 8

    def many(count: int) -> Iterator[Stored]:
        for number in range(count):
            yield stored(keys, number, core(dict.fromkeys(range(2_000), (1, 1)), params=wide))

    def peak(count: int) -> int:
        tracemalloc.start()
        fold(many(count), keys=keys, params=wide)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(2)
    # What other threads of this process do meanwhile is in one of them, perhaps, and not in all.
    assert min(peak(40) for _ in range(3)) < peak(3) + 2 * each


def test_a_stored_partial_prints_nothing(keys: KeyFolder) -> None:
    one = stored(keys, 1, core({1: (1, 1)}))
    assert repr(one) == f"Stored({one.label.partial}, contents withheld)"
