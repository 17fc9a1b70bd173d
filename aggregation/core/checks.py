"""The session's own check of what a device sent: the second of the two that sensitivity rests on.

A part is accepted iff its ranks are strictly increasing and inside the domain, it has at most
`max_rows` rows, every −K ≤ q ≤ K, and Σ|q| ≤ K. Each q is compared before anything is summed: in
int64 the absolute value of the smallest number is itself, and huge numbers wrap around to a small
sum, so a naive Σ|q| ≤ K would let both pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from aggregation.core.interface import Verdict, Verdicts
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.part import Part, Parts
from aggregation.protocol.server_config import ServerConfig


@dataclass(frozen=True)
class Params:
    """What a core sums: how many cells and metrics, which bounds, and from how many devices on."""

    cells: int
    metrics: int
    max_rows: int
    # Devices below which a sum stays in memory (where it waits, never whether it counts).
    min_contributions: int
    bound: int = GRID

    @classmethod
    def of(cls, config: ServerConfig) -> Params:
        cells = 1
        for key in config.keys:
            cells *= key.count
        return cls(
            cells=cells,
            metrics=len(config.metrics),
            max_rows=config.max_rows,
            min_contributions=config.aggregation.min_contributions,
        )

    def without_threshold(self) -> Params:
        """For the sum of a release, which is noised in the same memory before anything leaves."""
        return replace(self, min_contributions=0)

    def sums_alike(self, other: Params) -> bool:
        """Whether sums under both parameters can be added."""
        return replace(other, min_contributions=self.min_contributions) == self


def check(part: Part, params: Params) -> Verdict:
    ranks, values = part.ranks, part.values
    if ranks.dtype != np.uint32 or values.dtype != np.int64 or ranks.ndim != 1:
        return Verdict.WRONG_SHAPE
    if values.shape != (len(ranks), params.metrics):
        return Verdict.WRONG_SHAPE
    if len(ranks) > params.max_rows:
        return Verdict.TOO_MANY_ROWS
    # A few rows: Python's integers are quicker than numpy's calls, and cannot wrap.
    return _check_lists(ranks.tolist(), values.ravel().tolist(), params)


def _check_lists(ranks: list[int], values: list[int], params: Params) -> Verdict:
    previous = -1
    for rank in ranks:
        if rank <= previous:
            return Verdict.UNSORTED_RANKS
        previous = rank
    if previous >= params.cells:
        return Verdict.OUTSIDE_DOMAIN
    if values and (min(values) < -params.bound or max(values) > params.bound):
        return Verdict.VALUE_BEYOND_BOUND
    return Verdict.ACCEPTED if sum(map(abs, values)) <= params.bound else Verdict.SUM_BEYOND_BOUND


def check_batch(parts: Parts, params: Params) -> Verdicts:
    """The same verdicts as `check` gives one by one, the first reason found."""
    verdicts = np.zeros(len(parts), dtype=np.uint8)
    ranks, values = parts.ranks, parts.values
    well_typed = ranks.dtype == np.uint32 and values.dtype == np.int64 and ranks.ndim == 1
    if not well_typed or values.shape != (len(ranks), params.metrics):
        verdicts[:] = Verdict.WRONG_SHAPE
        return verdicts
    rows = parts.offsets[1:] - parts.offsets[:-1]
    owner = np.repeat(np.arange(len(parts)), rows)
    within = np.asarray(((values >= -params.bound) & (values <= params.bound)).all(axis=1))
    # Exact: each is at most 2^20 here, so float sums of fewer than 2^33 of them are whole numbers.
    sizes = np.abs(np.where(within[:, None], values, 0)).sum(axis=1)
    unsorted = (ranks[1:] <= ranks[:-1]) & (owner[1:] == owner[:-1])
    # From the last reason to the first, so that the first one found stays.
    verdicts[np.bincount(owner, sizes, minlength=len(parts)) > params.bound] = (
        Verdict.SUM_BEYOND_BOUND
    )
    verdicts[owner[~within]] = Verdict.VALUE_BEYOND_BOUND
    verdicts[owner[ranks >= params.cells]] = Verdict.OUTSIDE_DOMAIN
    verdicts[owner[1:][unsorted]] = Verdict.UNSORTED_RANKS
    verdicts[rows > params.max_rows] = Verdict.TOO_MANY_ROWS
    return verdicts
