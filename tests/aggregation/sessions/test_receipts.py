"""Receipts: one per update and window, packed in one way, found quickly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.errors import Problem
from aggregation.sessions.receipts import Receipts, has_receipt

ONE, TWO = "ab" * 16, "cd" * 16
raw_ids = st.sets(st.binary(min_size=8, max_size=8), max_size=20)


def receipts(**ids: set[bytes]) -> Receipts:
    made = Receipts()
    for origin, own in ids.items():
        made.add({"one": ONE, "two": TWO}[origin], own)
    return made


@given(raw_ids, raw_ids)
def test_what_is_packed_is_read_back(one: set[bytes], two: set[bytes]) -> None:
    packed = receipts(one=one, two=two).packed()
    assert packed == {ONE: b"".join(sorted(one)), TWO: b"".join(sorted(two))}
    again = Receipts.parse(packed)
    assert again.packed() == packed
    assert len(again) == len(one) + len(two)


@given(raw_ids, st.binary(min_size=8, max_size=8))
def test_an_id_is_found_iff_it_is_there(ids: set[bytes], other: bytes) -> None:
    blob = receipts(one=ids).packed()[ONE]
    assert all(has_receipt(blob, own.hex()) for own in ids)
    assert has_receipt(blob, other.hex()) == (other in ids)


def test_only_ids_are_looked_for() -> None:
    blob = bytes.fromhex("ab" * 8)
    assert has_receipt(blob, "ab" * 8)
    for text in ("AB" * 8, "ab", ""):
        with pytest.raises(Problem, match="is not the id of a"):
            has_receipt(blob, text)


@pytest.mark.parametrize(
    "packed",
    [
        {ONE: b"12345678" * 2},
        {ONE: b"22222222" + b"11111111"},
        {ONE: b"1234567"},
        {ONE.upper(): b"12345678"},
        {"": b"12345678"},
    ],
    ids=["twice", "not in order", "too short", "capitals", "no session"],
)
def test_only_what_was_packed_is_read(packed: dict[str, bytes]) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        Receipts.parse(packed)


def test_an_update_has_one_receipt() -> None:
    made = receipts(one={b"12345678"})
    with pytest.raises(Problem, match="counted twice"):
        made.add(ONE, [b"12345678"])
    with pytest.raises(Problem, match="counted twice"):
        receipts().add(ONE, [b"12345678", b"12345678"])


def test_the_same_id_of_two_sessions_is_two_updates() -> None:
    one, two = receipts(one={b"12345678"}), receipts(two={b"12345678"})
    assert not one.clashes_with(two)
    assert one.clashes_with(receipts(one={b"12345678", b"87654321"}))
    one.take_in(two)
    assert len(one) == 2
    assert one.has_origin(TWO)
