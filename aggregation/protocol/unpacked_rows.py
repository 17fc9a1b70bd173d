"""Rows of unpacked updates: which of them keep the format, and which belong to which window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from aggregation.protocol.part import Integers, Parts, Ranks
from aggregation.protocol.refusal import Reason
from aggregation.protocol.update_layout import FILLER, Layout, Shape
from aggregation.protocol.windows import Window

Bytes = NDArray[np.uint8]
Marks = NDArray[np.bool_]
# A reason, and which updates it is found in.
Fault = tuple[Reason, Marks]


@dataclass(frozen=True, eq=False, repr=False)
class Piece:
    """The parts of some updates for one window, one after another."""

    # Which update each part belongs to, and how many rows it has.
    updates: Integers
    counts: Integers
    ranks: Ranks
    values: Integers

    def parts(self) -> Parts:
        return Parts(_offsets(self.counts), self.ranks, self.values)


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """The padded rows of some updates: window by window, and in each window update by update."""

    # (windows, updates, max_rows).
    cells: Ranks
    # (windows, updates, max_rows, metrics).
    values: Integers
    # Where a row is, not filler.
    filled: Marks

    @classmethod
    def of(cls, block: Bytes, layout: Layout, shape: Shape) -> Rows:
        """Read from updates of one layout, one per row of the block."""
        form = (len(layout.cells), len(block), shape.max_rows)
        cells = _gathered(block, layout.cells).view("<u4").reshape(form)
        values = _gathered(block, layout.values).view("<i8").reshape(*form, shape.metrics)
        return cls(
            cells.astype(np.uint32, copy=False),
            values.astype(np.int64, copy=False),
            cells != FILLER,
        )

    def among(self, chosen: Marks | Integers) -> Rows:
        return Rows(self.cells[:, chosen], self.values[:, chosen], self.filled[:, chosen])

    def faults(self) -> list[Fault]:
        """Which updates have rows out of order, or anything beside filler, in any window."""
        # Filler is the largest number, so a row after it is out of order too.
        disorder = self.filled[..., 1:] & (self.cells[..., 1:] <= self.cells[..., :-1])
        stray = np.count_nonzero(self.values) != np.count_nonzero(self.filled_values)
        if not stray and not disorder.any():
            return []
        late = disorder & ~self.filled[..., :-1]
        beside = (self.values != 0).any(axis=3) & ~self.filled
        return [
            (Reason.BAD_FILLER, late.any(axis=(0, 2)) | beside.any(axis=(0, 2))),
            (Reason.UNSORTED_RANKS, disorder.any(axis=(0, 2))),
        ]

    def by_window(
        self, updates: Integers, windows: Sequence[tuple[Window, ...]]
    ) -> Iterator[tuple[Window, Piece]]:
        """Each window with the parts that updates have for it. `windows`: those of each update."""
        if not len(updates):
            return
        rows, owners, spans = self, np.tile(updates, len(self.cells)), _spans(windows)
        if spans is None:
            order, spans = _sorted_by_window(windows)
            rows, owners = self._one_after_another().among(order), owners[order]
        counts = rows.filled.sum(axis=2).ravel()
        starts, ranks, values = _offsets(counts), rows.cells[rows.filled], rows.filled_values
        for window, a, b in spans:
            own = slice(int(starts[a]), int(starts[b]))
            yield window, Piece(owners[a:b], counts[a:b], ranks[own], values[own])

    @cached_property
    def filled_values(self) -> Integers:
        """`values[filled]`, five times as fast."""
        metrics = self.values.shape[-1]
        return self.values.reshape(-1, metrics).take(np.flatnonzero(self.filled), axis=0)

    def _one_after_another(self) -> Rows:
        """All parts in one row, whatever their windows."""
        parts = self.cells.shape[0] * self.cells.shape[1]
        return Rows(
            self.cells.reshape(1, parts, -1),
            self.values.reshape(1, parts, *self.values.shape[2:]),
            self.filled.reshape(1, parts, -1),
        )


def joined(pieces: Sequence[Piece]) -> Piece:
    if len(pieces) == 1:
        return pieces[0]
    return Piece(
        np.concatenate([piece.updates for piece in pieces]),
        np.concatenate([piece.counts for piece in pieces]),
        np.concatenate([piece.ranks for piece in pieces]),
        np.concatenate([piece.values for piece in pieces]),
    )


def _gathered(block: Bytes, places: Sequence[slice]) -> Bytes:
    """The bytes at these places of each update: place by place, and in each update by update."""
    wide = places[0].stop - places[0].start
    out = np.empty((len(places), len(block), wide), dtype=np.uint8)
    for at, place in enumerate(places):
        out[at] = block[:, place]
    return out


# A window, and from where to where its parts lie.
Span = tuple[Window, int, int]


def _spans(windows: Sequence[tuple[Window, ...]]) -> list[Span] | None:
    """Where parts lie that are in order already, because all updates have the same windows."""
    first, count = windows[0], len(windows)
    if any(own is not first for own in windows):
        return None
    return [(window, at * count, (at + 1) * count) for at, window in enumerate(first)]


def _sorted_by_window(windows: Sequence[tuple[Window, ...]]) -> tuple[Integers, list[Span]]:
    """An order of all parts by window, and where each window then lies."""
    known: dict[Window, int] = {}
    # The same tuple comes again and again: look its windows up once.
    marks = {id(own): [known.setdefault(w, len(known)) for w in own] for own in windows}
    which = np.array([marks[id(own)] for own in windows], dtype=np.int64).T.ravel()
    ends = np.cumsum(np.bincount(which)).tolist()
    spans = zip(known, [0, *ends], ends, strict=False)
    return np.argsort(which, kind="stable"), list(spans)


def _offsets(counts: Integers) -> Integers:
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets
