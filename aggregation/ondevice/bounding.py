"""Contribution bounding: a device's query result → whole grid units with Σ|q| ≤ K, always.

Sensitivity rests on this file and on the session's own check of the same two conditions. A float
clip does not do: ‖h·C/‖h‖₁‖₁ exceeds C by 1e-15 for half of all vectors. So we scale into the
grid, leaving room for rounding, and round to integers:

    t = Σ|u|,  z = number of nonzero u,  limit = K − z/2 − 1
    f = K if t·K ≤ limit else limit/t,  q = rint(u·f)

Each rounding adds at most ½ and there are z of them, so Σ|q| ≤ limit·(1 + tiny) + z/2 < K; the
spare 1 covers the float error of t and f. That is the argument; the guarantee is the comparison
afterwards: unless every −K ≤ q ≤ K and Σ|q| ≤ K, the device sends the zero update. Comparing each
q first matters: the smallest int64 is its own absolute value, and sums of huge ones wrap.

It works on ragged batches, so that studies over millions of devices run the very code that phones
run. A phone is a batch of one; what comes out for a device does not depend on its batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregation.mechanisms.interface import Arithmetic
from aggregation.protocol.part import Floats, Integers, Part, Parts

# Devices bounded at a time: their rows stay in the processor's cache.
_CHUNK = 1 << 14
# Clip sums held at a time, where each device has one per share.
_CLIP_SUMS = 1 << 21


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """Query results of many devices for one window: any order, a cell may repeat (it is summed)."""

    # Device i has the rows offsets[i] to offsets[i + 1].
    offsets: Integers
    ranks: Integers
    # One row of metric values per rank.
    values: Floats

    def __repr__(self) -> str:
        return "Rows(contents withheld)"


def bound_one(arithmetic: Arithmetic, ranks: Integers, values: Floats, *, max_rows: int) -> Part:
    """Bound one device's rows."""
    offsets = np.array([0, len(ranks)], dtype=np.int64)
    return bound(arithmetic, Rows(offsets, ranks, values), max_rows=max_rows)[0]


def bound(arithmetic: Arithmetic, rows: Rows, *, max_rows: int) -> Parts:
    """Bound every device of a batch: ranks strictly increasing, Σ|q| ≤ K, at most `max_rows`."""
    devices = len(rows.offsets) - 1
    step = max(1, min(_CHUNK, _CLIP_SUMS // arithmetic.shares))
    if devices <= step:
        return _bound_chunk(arithmetic, rows, max_rows)
    return _joined(
        [
            _bound_chunk(arithmetic, _devices(rows, first, first + step), max_rows)
            for first in range(0, devices, step)
        ]
    )


def _bound_chunk(arithmetic: Arithmetic, rows: Rows, max_rows: int) -> Parts:
    count = len(rows.offsets) - 1
    owner = np.repeat(np.arange(count), rows.offsets[1:] - rows.offsets[:-1])
    ranks, values = rows.ranks, rows.values
    # What overflows becomes a zero update; what is divided by zero is not used.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if not _is_increasing(owner, ranks):
            owner, ranks, values = _summed_by_cell(owner, ranks, values)
        u = arithmetic.encode(ranks, values)
        owner, ranks, u = _largest_rows(owner, ranks, u, count, max_rows)
        scaled = u * _factors(arithmetic, owner, ranks, u, count)
        q = _checked(np.rint(scaled), owner, count, bound=arithmetic.sensitivity)
    filled = q.any(axis=1)
    if not filled.all():
        owner, ranks, q = owner[filled], ranks[filled], q[filled]
    return Parts(_offsets(rows, owner), ranks.astype(np.uint32), q)


def _is_increasing(owner: Integers, ranks: Integers) -> bool:
    """Whether each device's ranks are strictly increasing already."""
    up = ranks[1:] > ranks[:-1]
    return bool(up.all() or (up | (owner[1:] != owner[:-1])).all())


def _offsets(rows: Rows, owner: Integers) -> Integers:
    """Where each device's rows are now, given whose each is: where they were, if none is gone."""
    if len(owner) == len(rows.ranks):
        return rows.offsets
    offsets = np.zeros_like(rows.offsets)
    np.cumsum(np.bincount(owner, minlength=len(offsets) - 1), out=offsets[1:])
    return offsets


def _summed_by_cell(
    owner: Integers, ranks: Integers, values: Floats
) -> tuple[Integers, Integers, Floats]:
    """Rows in order of device and rank, those of the same cell added up."""
    order = np.lexsort((ranks, owner))
    owner, ranks, values = owner[order], ranks[order], values[order]
    first = np.ones(len(ranks), dtype=bool)
    first[1:] = (ranks[1:] != ranks[:-1]) | (owner[1:] != owner[:-1])
    return owner[first], ranks[first], np.add.reduceat(values, np.flatnonzero(first), axis=0)


def _largest_rows(
    owner: Integers, ranks: Integers, u: Floats, count: int, max_rows: int
) -> tuple[Integers, Integers, Floats]:
    """Each device's `max_rows` largest rows by encoded L1; of equal ones, the lower rank."""
    if len(ranks) <= max_rows:
        return owner, ranks, u
    rows_of = np.bincount(owner, minlength=count)
    if not (rows_of > max_rows).any():
        return owner, ranks, u
    size = np.abs(u).sum(axis=1)
    size[np.isnan(size)] = np.inf  # kept, so that it is noticed and zeroes the update
    order = np.lexsort((ranks, -size, owner))
    place = np.arange(len(order)) - np.repeat(np.cumsum(rows_of) - rows_of, rows_of)
    kept = np.sort(order[place < max_rows])
    return owner[kept], ranks[kept], u[kept]


def _factors(
    arithmetic: Arithmetic, owner: Integers, ranks: Integers, u: Floats, count: int
) -> Floats:
    """What each u is multiplied by to become grid units; NaN where the device must send zero."""
    shares = arithmetic.clip_groups(ranks)
    if shares is None:
        size, nonzero = np.abs(u).sum(axis=1), (u != 0).sum(axis=1)
        factor = _factor_per_group(owner, size, nonzero, count, arithmetic.units)
        return factor[owner, None]
    group = (owner[:, None] * arithmetic.shares + shares).ravel()
    groups = count * arithmetic.shares
    size, nonzero = np.abs(u).ravel(), (u != 0).ravel()
    factors: Floats = _factor_per_group(group, size, nonzero, groups, arithmetic.units)[group]
    return factors.reshape(u.shape)


def _factor_per_group(
    group: Integers, size: Floats, nonzero: NDArray[np.generic], groups: int, units: int
) -> Floats:
    total = np.bincount(group, size, minlength=groups)
    limit = units - np.bincount(group, nonzero, minlength=groups) / 2 - 1
    factor = np.where(total * units <= limit, float(units), limit / total)
    factor[~((total < np.inf) & (limit > 0))] = np.nan
    return factor


def _checked(q: Floats, owner: Integers, count: int, *, bound: int) -> Integers:
    """Whole numbers as int64, all zero for a device that breaks the bound in any way."""
    size = np.abs(q)
    # One that is too large, or no number, makes the sum endless. The others are at most 2^20, so
    # float sums of fewer than 2^33 of them are exact.
    each = np.where(size <= bound, size, np.inf).sum(axis=1)
    broken = np.bincount(owner, each, minlength=count) > bound
    if broken.any():
        q[broken[owner]] = 0.0
    return q.astype(np.int64)


def _devices(rows: Rows, first: int, end: int) -> Rows:
    offsets = rows.offsets[first : end + 1]
    span = slice(int(offsets[0]), int(offsets[-1]))
    return Rows(offsets - offsets[0], rows.ranks[span], rows.values[span])


def _joined(chunks: list[Parts]) -> Parts:
    counts = np.concatenate([[0], *(np.diff(chunk.offsets) for chunk in chunks)])
    return Parts(
        np.cumsum(counts),
        np.concatenate([chunk.ranks for chunk in chunks]),
        np.concatenate([chunk.values for chunk in chunks]),
    )
