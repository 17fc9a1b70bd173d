"""Cell ranks: golden vectors that any other implementation must agree with."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.errors import Problem
from aggregation.protocol.client_task import Key
from aggregation.protocol.domains import Domain
from aggregation.protocol.ranks import Cells
from aggregation.protocol.shipped import ACTIVITIES, DIRECTIONS, RATINGS

REGIONS = Domain([str(number) for number in range(1001, 1013)])
TRIPS = Cells(("region", "activity", "direction"), (REGIONS, ACTIVITIES, DIRECTIONS))

GOLDEN = {
    ("1001", "walking", "within"): 0,
    ("1001", "walking", "inbound"): 2,
    ("1001", "running", "within"): 3,
    ("1001", "flying", "inbound"): 26,
    ("1002", "walking", "within"): 27,
    ("1007", "driving", "outbound"): 6 * 27 + 4 * 3 + 1,
    ("1012", "flying", "inbound"): 323,
}


@pytest.mark.parametrize(("values", "rank"), GOLDEN.items())
def test_the_first_key_is_most_significant(values: tuple[str, ...], rank: int) -> None:
    assert TRIPS.rank(values) == rank
    assert TRIPS.values(rank) == values
    assert TRIPS.ranks([[v] for v in values]).tolist() == [rank]


@given(st.lists(st.integers(0, TRIPS.size - 1), min_size=1, max_size=20))
def test_ranks_and_values_are_one_to_one(ranks: list[int]) -> None:
    rows = [TRIPS.values(rank) for rank in ranks]
    assert [TRIPS.rank(row) for row in rows] == ranks
    assert TRIPS.ranks(list(zip(*rows, strict=True))).tolist() == ranks
    indices = TRIPS.indices(np.array(ranks, dtype=np.uint32), "activity")
    assert [ACTIVITIES[int(i)] for i in indices] == [row[1] for row in rows]


OUTSIDE = ["1013", "", None, 1001, 1001.0, b"1001", "1001\0", True]


@pytest.mark.parametrize("value", OUTSIDE, ids=repr)
def test_what_is_not_in_a_domain_has_no_rank(value: object) -> None:
    assert TRIPS.rank((value, "walking", "within")) == -1
    assert TRIPS.ranks([[value], ["walking"], ["within"]]).tolist() == [-1]


@pytest.mark.parametrize("value", [0, 6, 1.0, "1", True, None, 2**70], ids=repr)
def test_a_whole_number_is_not_taken_from_what_only_equals_it(value: object) -> None:
    stars = Cells(("rating",), (RATINGS,))
    assert stars.rank((value,)) == -1
    assert stars.ranks([[value]]).tolist() == [-1]
    assert stars.rank((1,)) == 0


def test_no_keys_make_one_cell() -> None:
    nothing = Cells.of((), {}.__getitem__)
    assert nothing.size == 1
    assert nothing.rank(()) == 0
    assert nothing.values(0) == ()


def test_it_refuses_a_domain_that_is_not_installed() -> None:
    key = Key(name="region", domain="0" * 64, count=12)
    with pytest.raises(Problem, match="region is not installed"):
        Cells.of((key,), {}.__getitem__)


def test_it_refuses_more_cells_than_ranks_can_number() -> None:
    many = Domain(range(70_000))
    keys = [Key(name=name, domain=many.sha256, count=70_000) for name in ("a", "b")]
    with pytest.raises(Problem, match="4,900,000,000 cells"):
        Cells.of(keys, {many.sha256: many}.__getitem__)


def test_a_key_may_carry_its_own_values() -> None:
    values = ("short", "long")
    key = Key(name="length", domain=Domain(values).sha256, count=2, values=values)
    assert Cells.of((key,), {}.__getitem__).rank(("long",)) == 1
