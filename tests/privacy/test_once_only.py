"""At most one contribution per (device, task, window), whatever is lost, repeated or killed."""

from dataclasses import fields, replace

import pytest

from tests.privacy.once_only_model import Bounds, Rules, explore

TWO_WINDOWS = Bounds(windows=("1", "2"))
BROKEN = [field.name for field in fields(Rules)]


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


@pytest.mark.parametrize("rule", BROKEN)
def test_without_any_one_rule_there_is_such_a_history(rule):
    # A receipt that was not inherited shows only when there is a third session to send to.
    bounds = Bounds(sessions=3, faults=False) if rule == "inherited_receipts" else Bounds()
    _, history = explore(replace(Rules(), **{rule: False}), bounds)
    assert history is not None
    print(f"{len(history)} steps: {'; '.join(history)}")
