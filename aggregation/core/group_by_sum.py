"""Group-By-Sum: the core that adds bounded integers cell by cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import msgspec
import numpy as np
from numpy.typing import NDArray

from aggregation.core.checks import Params, check, check_batch
from aggregation.core.interface import AggregationCore, Verdict, Verdicts
from aggregation.core.sums import Sums
from aggregation.errors import Problem
from aggregation.protocol.part import Integers, Part, Parts, Ranks

# No cell's sum exceeds contributions · K, which must stay clear of 2^63 through every merge.
_HEAD_ROOM = 2**62
_FORMAT = 1


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The sums of all cells, before any noise: for the memory of the process that adds it."""

    contributions: int
    # One row per cell, one column per metric, in grid units.
    sums: Integers

    def __repr__(self) -> str:
        return "Report(contents withheld)"


class GroupBySum(AggregationCore[Part, Parts, Report]):
    """Sums of one task's parts for one window."""

    def __init__(self, params: Params) -> None:
        self.params = params
        self._contributions = 0
        self._sums: Sums | None = Sums(cells=params.cells, metrics=params.metrics)

    @property
    def contributions(self) -> int:
        """Exactly how many parts were accepted: for the control loop, not for anyone to see."""
        return self._contributions

    @property
    def touched_cells(self) -> int:
        """Cells held in memory: tests watch that they are only those that were touched."""
        return self._state().touched

    def accumulate(self, contribution: Part) -> Verdict:
        verdict = check(contribution, self.params)
        if verdict is Verdict.ACCEPTED:
            sums = self._state()
            self._count(1)
            sums.add(contribution.ranks, contribution.values)
        return verdict

    def accumulate_batch(
        self, contributions: Parts, *, among: NDArray[np.bool_] | None = None
    ) -> Verdicts:
        verdicts = check_batch(contributions, self.params)
        if among is not None:
            verdicts[(verdicts == Verdict.ACCEPTED) & ~among] = Verdict.OTHER_PART_REFUSED
        accepted = verdicts == Verdict.ACCEPTED
        sums = self._state()
        self._count(int(accepted.sum()))
        rows = np.repeat(accepted, contributions.offsets[1:] - contributions.offsets[:-1])
        sums.add(contributions.ranks[rows], contributions.values[rows])
        return verdicts

    def merge(self, other: GroupBySum) -> None:
        if other is self:
            raise Problem("A core cannot be merged with itself.")
        if not self.params.sums_alike(other.params):
            raise Problem("Two cores of different tasks cannot be merged.")
        sums = self._state()
        other._state()  # refuses a consumed core before anything changes
        self._count(other.contributions)
        sums.add_sums(other._consumed())

    def can_report(self) -> bool:
        return self._contributions >= self.params.min_contributions

    def report(self) -> Report:
        self._refuse_small()
        return Report(self._contributions, self._consumed().dense())

    def serialise(self, *, small: bool = False) -> bytes:
        if not small:
            self._refuse_small()
        sums = self._consumed()
        ranks, values = sums.sparse()
        document = _Serialised(
            version=_FORMAT,
            cells=self.params.cells,
            metrics=self.params.metrics,
            contributions=self._contributions,
            ranks=None if sums.is_dense else ranks.astype("<u4").tobytes(),
            sums=values.astype("<i8").tobytes(),
        )
        return msgspec.msgpack.encode(document)

    @classmethod
    def parse(cls, raw: bytes, params: Params) -> GroupBySum:
        """The core whose state `serialise` gave."""
        try:
            return _restored(cls(params), msgspec.msgpack.decode(raw, type=_Serialised))
        except ValueError:
            raise Problem("These bytes are not a partial of this task.") from None

    def _state(self) -> Sums:
        if self._sums is None:
            raise Problem("This core has been reported, serialised or merged already.")
        return self._sums

    def _consumed(self) -> Sums:
        sums = self._state()
        self._sums = None
        return sums

    def _count(self, added: int) -> None:
        if (self._contributions + added) * self.params.bound > _HEAD_ROOM:
            raise Problem("The sums have no head-room left for more contributions.")
        self._contributions += added

    def _refuse_small(self) -> None:
        self._state()
        if not self.can_report():
            raise Problem("Too few devices are in this core for its sum to leave memory.")

    def __repr__(self) -> str:
        return "GroupBySum(contents withheld)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A core is not pickled: its state leaves by `serialise` only.")


class _Serialised(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    cells: int
    metrics: int
    contributions: int
    # Nothing where all cells are held.
    ranks: bytes | None
    sums: bytes


def _restored(core: GroupBySum, document: _Serialised) -> GroupBySum:
    """Fill an empty core; a `ValueError` says that the document cannot be its state."""
    params, stated = core.params, (document.version, document.cells, document.metrics)
    values = np.frombuffer(document.sums, dtype="<i8").astype(np.int64).reshape(-1, params.metrics)
    limit = document.contributions * params.bound
    if stated != (_FORMAT, params.cells, params.metrics) or document.contributions < 0:
        raise ValueError
    if (values < -limit).any() or (values > limit).any():
        raise ValueError
    core._count(document.contributions)
    if document.ranks is None:
        core._state().add_all(values)
    else:
        core._state().add(_ranks(document.ranks, params), values)
    return core


def _ranks(raw: bytes, params: Params) -> Ranks:
    ranks = np.frombuffer(raw, dtype="<u4").astype(np.uint32)
    if (ranks[1:] <= ranks[:-1]).any() or (ranks >= params.cells).any():
        raise ValueError
    return ranks
