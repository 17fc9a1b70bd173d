"""At most one contribution per (device, task, window), whatever is lost, repeated or killed."""

from dataclasses import fields, replace

import pytest

from tests.privacy.once_only_model import Bounds, Rules, explore

TWO_WINDOWS = Bounds(windows=("1", "2"))
BROKEN = [field.name for field in fields(Rules)]
# Where two sessions do not show it, or show it after a long search.
SHOWN_BY = {
    "inherited_receipts": Bounds(sessions=3, faults=()),
    "kept_for_collectors_only": Bounds(sessions=3, faults=("dead",)),
    "collected_takes_no_more": Bounds(collectors=2, faults=("dead",)),
}


def test_no_history_counts_a_window_twice(size):
    bounds = Bounds() if size == "everyday" else Bounds(sessions=3, updates=3)
    states, history = explore(Rules(), bounds)
    print(f"{states:,} states, none bad")
    assert history is None


def test_nor_with_two_windows_in_one_update(size):
    bounds = replace(TWO_WINDOWS, hand_overs=size == "full")
    states, history = explore(Rules(), bounds)
    print(f"{states:,} states, none bad")
    assert history is None


def test_nor_with_collectors_that_die_and_get_it_again(size):
    states, history = explore(Rules(), Bounds(sessions=1 + (size == "full"), collectors=2))
    print(f"{states:,} states, none bad")
    assert history is None


@pytest.mark.parametrize("rule", BROKEN)
def test_without_any_one_rule_there_is_such_a_history(rule):
    _, history = explore(replace(Rules(), **{rule: False}), SHOWN_BY.get(rule, Bounds()))
    assert history is not None
    print(f"{len(history)} steps: {'; '.join(history)}")
