"""Merging: stored partials of one window folded into one sum, each exactly once.

Sums are exact integers, so that the order in which partials come, and the levels they pass
through, change nothing. One partial is open at a time: memory holds the folded sum and one more,
however many are folded. The result is a core in memory. It leaves either as a partial of the next
level, which its own threshold allows, or into the noise of a release.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.errors import Problem
from aggregation.partials.envelope import Label, open_partial
from aggregation.partials.keys import KeyFolder


@dataclass(frozen=True)
class Stored:
    """A partial as the database has it."""

    label: Label
    # The UTC day on which it was sealed: it names the key.
    day: date
    envelope: bytes

    def __repr__(self) -> str:
        return f"Stored({self.label.partial}, contents withheld)"


def fold(stored: Iterable[Stored], *, keys: KeyFolder, params: Params) -> GroupBySum:
    """The exact sum of these partials; nothing at all if one of them is refused.

    `params` are the task's, with its threshold for a partial of the next level, or
    `without_threshold` for a release. A partial that comes twice is refused: a sum that counts a
    device twice has twice the sensitivity that its noise is made for. So is one of another task
    or window, which would be spent under a budget that is not its own.
    """
    total, seen, first = GroupBySum(params), set[str](), None
    for one in stored:
        first = first or one.label
        if one.label.partial in seen:
            raise Problem(f"The partial {one.label.partial} was to be counted twice.")
        if (one.label.task, one.label.window) != (first.task, first.window):
            raise Problem(f"The partial {one.label.partial} belongs to another window or task.")
        seen.add(one.label.partial)
        total.merge(_opened(one, keys, params))
    return total


def _opened(one: Stored, keys: KeyFolder, params: Params) -> GroupBySum:
    key = keys.for_opening(one.label.key_name(one.day))
    return GroupBySum.parse(open_partial(one.envelope, label=one.label, key=key), params)
