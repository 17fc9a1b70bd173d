"""Unpacking: many updates at once, straight from their bytes to the arrays that a core sums.

The bytes come from strangers. None is parsed: the length says how many windows there are, the
fixed bytes are compared with what they must be, and everything else is read where it must lie. An
update that differs in any way is refused as a whole, with a reason; nothing is ever raised.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress, pairwise
from typing import TypeVar, cast

import numpy as np

from aggregation.errors import Problem
from aggregation.protocol.part import Integers, Parts
from aggregation.protocol.refusal import Reason
from aggregation.protocol.unpacked_rows import Bytes, Fault, Marks, Piece, Rows, joined
from aggregation.protocol.update_layout import (
    VERSION,
    Layout,
    Shape,
    layout_of,
    windows_by_length,
)
from aggregation.protocol.windows import Unit, Window

Windows = tuple[Window, ...]
T = TypeVar("T")

# Bytes of updates unpacked at a time: they stay in the processor's cache.
_CHUNK_BYTES = 1 << 19


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Many updates, turned into one ragged batch of parts per window."""

    # Per update, its windows in order; none for a refused one.
    windows: Sequence[Windows]
    # Per window: the parts of all updates that have it.
    parts: dict[Window, Parts]
    # Per window: which update (by its place in the batch) each of those parts belongs to.
    updates: dict[Window, Integers]
    # Which updates were refused, and why.
    refused: dict[int, Reason]

    def __repr__(self) -> str:
        return f"Batch(contents of {len(self.windows)} updates withheld)"


def unpack_batch(
    raws: Sequence[bytes], shape: Shape, *, ever_open: Collection[Window] | None = None
) -> Batch:
    """Unpack updates of one shape; where windows are given, any other one is `never_open`."""
    work = _Unpacking(raws, shape, None if ever_open is None else frozenset(ever_open))
    windows_of = windows_by_length(shape)
    for length, numbers in _by_length(raws).items():
        windows = windows_of.get(length)
        if windows is None:
            work.refused.update(dict.fromkeys(numbers, Reason.WRONG_LENGTH))
            continue
        step = max(1, _CHUNK_BYTES // length)
        for at in range(0, len(numbers), step):
            work.take(numbers[at : at + step], layout_of(shape, windows))
    return work.batch()


def _by_length(raws: Sequence[bytes]) -> dict[int, list[int]]:
    """Length → which updates have it."""
    lengths = list(map(len, raws))
    if len(set(lengths)) == 1:
        return {lengths[0]: list(range(len(raws)))}
    found: dict[int, list[int]] = {}
    for number, length in enumerate(lengths):
        found.setdefault(length, []).append(number)
    return found


class _Unpacking:
    """One batch under way. Updates go by their number: their place in the batch."""

    def __init__(
        self, raws: Sequence[bytes], shape: Shape, ever_open: frozenset[Window] | None
    ) -> None:
        self._raws = raws
        self._shape = shape
        self._ever_open = ever_open
        # Bytes of window ids → what they say: few differ in one batch.
        self._readings: dict[bytes, Windows | Reason] = {}
        self._windows: list[Windows] = [()] * len(raws)
        self._pieces: dict[Window, list[Piece]] = {}
        self.refused: dict[int, Reason] = {}

    def take(self, numbers: list[int], layout: Layout) -> None:
        """Unpack some updates that have the same number of windows."""
        raws = [self._raws[number] for number in numbers]
        block = np.frombuffer(b"".join(raws), dtype=np.uint8).reshape(len(raws), layout.length)
        said = self._readings_of([raw[layout.ids] for raw in raws], layout)
        if faults := [*_form_faults(block, layout), *_window_faults(said)]:
            good = self._sifted(numbers, faults)
            numbers, said, block = _chosen(numbers, good), _chosen(said, good), block[good]
        rows = Rows.of(block, layout, self._shape)
        if faults := rows.faults():
            good = self._sifted(numbers, faults)
            numbers, said, rows = _chosen(numbers, good), _chosen(said, good), rows.among(good)
        self._keep(numbers, cast("list[Windows]", said), rows)

    def batch(self) -> Batch:
        found = {window: joined(pieces) for window, pieces in self._pieces.items()}
        return Batch(
            windows=self._windows,
            parts={window: piece.parts() for window, piece in found.items()},
            updates={window: piece.updates for window, piece in found.items()},
            refused=self.refused,
        )

    def _readings_of(self, ids: list[bytes], layout: Layout) -> list[Windows | Reason]:
        """What each update says its windows are; each different saying is read once."""
        for said in set(ids).difference(self._readings):
            texts = [said[place] for place in layout.id_places]
            self._readings[said] = _read(texts, self._shape.unit, self._ever_open)
        return [self._readings[said] for said in ids]

    def _sifted(self, numbers: list[int], faults: Iterable[Fault]) -> Marks:
        """Which updates are without fault; of the others, the first reason is noted."""
        good = np.ones(len(numbers), dtype=bool)
        for reason, marks in faults:
            for place in np.flatnonzero(marks & good).tolist():
                self.refused[numbers[place]] = reason
            good &= ~marks
        return good

    def _keep(self, numbers: list[int], windows: list[Windows], rows: Rows) -> None:
        for number, own in zip(numbers, windows, strict=True):
            self._windows[number] = own
        for window, piece in rows.by_window(np.array(numbers, dtype=np.int64), windows):
            self._pieces.setdefault(window, []).append(piece)


def _form_faults(block: Bytes, layout: Layout) -> list[Fault]:
    """Updates whose fixed bytes, or whose version, are other ones."""
    other = block[:, layout.fixed] != layout.expected
    version = block[:, layout.version_at] != VERSION
    if not other.any() and not version.any():
        return []
    return [(Reason.NOT_AN_UPDATE, other.any(axis=1)), (Reason.WRONG_VERSION, version)]


def _window_faults(said: list[Windows | Reason]) -> list[Fault]:
    reasons = sorted({reading for reading in said if type(reading) is Reason})
    return [(reason, np.array([r is reason for r in said])) for reason in reasons]


def _read(ids: list[bytes], unit: Unit, ever_open: frozenset[Window] | None) -> Windows | Reason:
    """The windows that these ids name, if they are increasing and may be there."""
    found = [_window(text, unit) for text in ids]
    windows = tuple(window for window in found if window is not None)
    if len(windows) < len(ids) or any(b <= a for a, b in pairwise(windows)):
        return Reason.WRONG_WINDOWS
    if ever_open is not None and not ever_open.issuperset(windows):
        return Reason.NEVER_OPEN
    return windows


@lru_cache(maxsize=4096)
def _window(text: bytes, unit: Unit) -> Window | None:
    """Remembered: the same few windows come all the time, and reading a date is slow."""
    try:
        return Window.parse(text.decode("ascii"), unit)
    except (UnicodeDecodeError, Problem):
        return None


def _chosen(items: list[T], good: Marks) -> list[T]:
    return list(compress(items, good.tolist()))
