"""Which partials are merged: by eight, in levels, and the old ones of level 1 whatever they are."""

from collections import Counter
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from portal.collection.merge_plan import FAN_IN, MOST, Merge, Waiting, merges_due

TODAY = date(2026, 11, 18)
YESTERDAY = TODAY - timedelta(days=1)


def waiting(count: int, *, level: int = 1, day: date = TODAY) -> list[Waiting]:
    return [Waiting(f"{level}-{day}-{n:04}", level, day) for n in range(count)]


def test_eight_of_a_level_become_one_of_the_next():
    eight = waiting(FAN_IN)
    assert merges_due(eight, today=TODAY) == [Merge(1, tuple(one.id for one in eight))]
    assert merges_due(eight[1:], today=TODAY) == []


def test_levels_are_not_mixed():
    found = merges_due(waiting(FAN_IN) + waiting(FAN_IN, level=2), today=TODAY)
    assert [merge.level for merge in found] == [1, 2]


def test_level_1_does_not_wait_for_company_over_night():
    assert merges_due(waiting(1, day=YESTERDAY), today=TODAY) == [
        Merge(1, (f"1-{YESTERDAY}-0000",))
    ]
    # Of two days, those that are old go; the others wait for company.
    found = merges_due(waiting(3, day=YESTERDAY) + waiting(3), today=TODAY)
    assert [len(merge.partials) for merge in found] == [3]


def test_higher_levels_wait_as_long_as_they_like():
    assert merges_due(waiting(FAN_IN - 1, level=2, day=YESTERDAY), today=TODAY) == []


def test_one_merge_has_a_size():
    found = merges_due(waiting(2 * MOST + 1), today=TODAY)
    assert [len(merge.partials) for merge in found] == [MOST, MOST]


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), max_size=200).map(
        lambda pairs: [
            Waiting(str(n), level, TODAY - timedelta(days=days))
            for n, (level, days) in enumerate(pairs)
        ]
    )
)
def test_nothing_is_merged_twice_and_no_old_partial_is_left(partials):
    found = merges_due(partials, today=TODAY)
    merged = Counter(id for merge in found for id in merge.partials)
    levels = {one.id: one.level for one in partials}
    assert all(count == 1 for count in merged.values())
    assert all(levels[id] == merge.level for merge in found for id in merge.partials)
    assert all(0 < len(merge.partials) <= MOST for merge in found)
    old = {one.id for one in partials if one.level == 1 and one.key_day < TODAY}
    assert old <= merged.keys()
    left = Counter(one.level for one in partials if one.id not in merged)
    assert all(count < FAN_IN for count in left.values())
