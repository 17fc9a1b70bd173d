"""Ids: random, of one length, in one spelling."""

import pytest

from aggregation.errors import Problem
from aggregation.protocol.ids import (
    fresh_session_id,
    fresh_update_id,
    is_client_task,
    is_session_id,
    is_update_id,
    raw_client_task,
    raw_session,
    raw_update,
)

OTHER_SPELLINGS = ["", "g", "AB", "a b", "ab\n", "é"]


def test_it_works() -> None:
    assert is_session_id(fresh_session_id())
    assert is_update_id(fresh_update_id())
    assert is_client_task("0f" * 32)
    assert len(raw_session(fresh_session_id())) == 16
    assert len(raw_update(fresh_update_id())) == 8
    assert raw_client_task("0f" * 32) == b"\x0f" * 32


def test_no_two_are_the_same() -> None:
    assert len({fresh_update_id() for _ in range(1000)}) == 1000


@pytest.mark.parametrize("end", OTHER_SPELLINGS)
def test_other_spellings_are_refused(end: str) -> None:
    for size, is_id, raw in (
        (32, is_session_id, raw_session),
        (16, is_update_id, raw_update),
        (64, is_client_task, raw_client_task),
    ):
        for text in ("a" * (size - max(1, len(end))) + end, "a" * size + (end or "a")):
            assert not is_id(text)
            with pytest.raises(Problem, match=f"It has {size} lower-case hex digits"):
                raw(text)


def test_the_three_kinds_do_not_pass_for_each_other() -> None:
    assert not is_session_id(fresh_update_id())
    assert not is_update_id(fresh_session_id())
    assert not is_client_task(fresh_session_id())
