"""The aggregation core: the paper's abstraction of an aggregation process and its ephemeral state.

A core lives in the memory of one process. It is made with zero state and takes contributions one
by one or in batches. Each is checked as a whole before the state changes: a contribution counts
entirely or not at all. Two cores merge into one. What has been summed leaves a core once: `report`,
`serialise` and being merged into another core consume it, so that no sum is counted twice.

    init ──► accumulate* ──► merge* ──► can_report? ──► report | serialise

Accumulating and merging are exact, so their order does not matter. A core shows nothing of its
state when it is printed or logged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

One = TypeVar("One")
Many = TypeVar("Many")
Result = TypeVar("Result")


class Verdict(IntEnum):
    """What became of a contribution; counted by reason, never answered to a device."""

    ACCEPTED = 0
    WRONG_SHAPE = 1
    TOO_MANY_ROWS = 2
    UNSORTED_RANKS = 3
    OUTSIDE_DOMAIN = 4
    VALUE_BEYOND_BOUND = 5
    SUM_BEYOND_BOUND = 6
    # Refused for what another part of the same update is.
    OTHER_PART_REFUSED = 7


Verdicts = NDArray[np.uint8]


class AggregationCore(ABC, Generic[One, Many, Result]):
    """State of one aggregation: contributions in, one result out."""

    @abstractmethod
    def accumulate(self, contribution: One) -> Verdict:
        """Add a contribution to the state if it is accepted, else leave the state as it was."""

    @abstractmethod
    def accumulate_batch(
        self, contributions: Many, *, among: NDArray[np.bool_] | None = None
    ) -> Verdicts:
        """`accumulate` for each of many; only `among` those marked, where a mark is given."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add the state of another core, which is consumed."""

    @abstractmethod
    def can_report(self) -> bool:
        """Whether enough devices are in the state for it to leave this process's memory."""

    @abstractmethod
    def report(self) -> Result:
        """The accumulated result. Consumes the core; refused unless `can_report`."""

    @abstractmethod
    def serialise(self, *, small: bool = False) -> bytes:
        """The state as bytes, to be sealed by the caller. Consumes the core.

        Refused unless `can_report`, or unless `small` says that the bytes go on to another
        process's memory and never to storage.
        """
