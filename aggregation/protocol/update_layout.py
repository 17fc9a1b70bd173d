"""Where each byte of an update lies: the same place for every update of a task.

An update is a MessagePack map, and every field in it has a fixed width, so all updates of a client
task with the same number of windows have one length and one layout, the zero update included: the
length on the wire tells nothing about the contents. It also means that a server never parses what
a stranger sent. It compares the fixed bytes, and reads the others where they must be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import ormsgpack
from numpy.typing import NDArray

from aggregation.errors import Problem
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.server_config import ServerConfig
from aggregation.protocol.windows import Unit

VERSION: Final = 1
# Windows in one update: a device that was away longer sends several updates.
MAX_WINDOWS: Final = 16
# Bytes of one update, so that it is at most 64 KiB once sealed (see `sealing`).
MAX_LENGTH: Final = 2**16 - 48
# Where no row is. It cannot be a rank: ranks number fewer cells than that.
FILLER: Final = 2**32 - 1

# A map of four, then the word `version`: its number follows.
_VERSION_AT: Final = 1 + 1 + len("version")


@dataclass(frozen=True)
class Shape:
    """All that an update's layout depends on, besides how many windows it has."""

    unit: Unit
    max_rows: int
    metrics: int

    def __post_init__(self) -> None:
        if self.max_rows < 1 or self.metrics < 1:
            raise Problem(f"No update has {self.max_rows} rows of {self.metrics} metrics.")

    @classmethod
    def of(cls, task: ClientTask | ServerConfig) -> Shape:
        return cls(task.window_unit, task.max_rows, len(task.metrics))


@dataclass(frozen=True, eq=False)
class Layout:
    """The places of one shape with one number of windows."""

    length: int
    # Bytes that are the same in all updates, and what they are; the version is not among them.
    fixed: NDArray[np.intp]
    expected: NDArray[np.uint8]
    version_at: int
    # From the first window id to the last, with what lies between them.
    ids: slice
    # One per window.
    id_places: tuple[slice, ...]
    cells: tuple[slice, ...]
    values: tuple[slice, ...]


def encode(ids: Sequence[str], cells: Sequence[bytes], values: Sequence[bytes]) -> bytes:
    """The update's bytes: this order of keys, and MessagePack's shortest form of everything."""
    document = {"version": VERSION, "windows": ids, "cells": cells, "values": values}
    return ormsgpack.packb(document)


@lru_cache(maxsize=256)
def layout_of(shape: Shape, windows: int) -> Layout:
    """Found by writing two updates that differ in every byte that may differ."""
    low, high = _example(shape, windows, 0), _example(shape, windows, 1)
    fixed = low == high
    runs = _runs(~fixed)
    ids, cells, values = (tuple(runs[at * windows : (at + 1) * windows]) for at in range(3))
    fixed[_VERSION_AT] = False
    places = np.flatnonzero(fixed)
    return Layout(
        length=len(low),
        fixed=places,
        expected=low[places],
        version_at=_VERSION_AT,
        ids=slice(ids[0].start, ids[-1].stop),
        id_places=tuple(slice(i.start - ids[0].start, i.stop - ids[0].start) for i in ids),
        cells=cells,
        values=values,
    )


def length(shape: Shape, windows: int) -> int:
    """The length of every update of this shape with this many windows."""
    if not 1 <= windows <= MAX_WINDOWS:
        raise Problem(f"An update has 1 to {MAX_WINDOWS} windows, not {windows}.")
    return layout_of(shape, windows).length


@lru_cache(maxsize=64)
def windows_by_length(shape: Shape) -> dict[int, int]:
    """Length of an update → its number of windows, for those that fit into one upload."""
    found = {length(shape, windows): windows for windows in range(1, MAX_WINDOWS + 1)}
    return {size: windows for size, windows in found.items() if size <= MAX_LENGTH}


def most_windows(shape: Shape) -> int:
    """How many windows one update of this shape can have."""
    return max(windows_by_length(shape).values(), default=0)


def _example(shape: Shape, windows: int, digit: int) -> NDArray[np.uint8]:
    wide = len("2026-11-09T14") if shape.unit is Unit.HOUR else len("2026-11-09")
    cells = bytes([digit]) * (4 * shape.max_rows)
    values = bytes([digit]) * (8 * shape.max_rows * shape.metrics)
    raw = encode([str(digit) * wide] * windows, [cells] * windows, [values] * windows)
    return np.frombuffer(raw, dtype=np.uint8)


def _runs(marks: NDArray[np.bool_]) -> list[slice]:
    """The stretches of neighbouring marks."""
    edges = np.flatnonzero(np.diff(marks, prepend=False, append=False))
    return [slice(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
