"""Updates for tests: made at random, and read by a second, slow reader that shares no code."""

from typing import Any

import numpy as np
import ormsgpack
from hypothesis import strategies as st

from aggregation.protocol.part import Part
from aggregation.protocol.update import Shape
from aggregation.protocol.windows import Unit, Window

SHAPE = Shape(Unit.WEEK, 8, 2)
IDS = ("2026-11-02", "2026-11-09", "2026-11-16", "2026-11-23")
WEEKS = tuple(Window.parse(text, Unit.WEEK) for text in IDS)

shapes = st.builds(
    Shape, st.sampled_from(list(Unit)), st.integers(1, 70), metrics=st.integers(1, 5)
)


def part(ranks: list[int], values: list[list[int]], *, metrics: int = SHAPE.metrics) -> Part:
    array = np.array(values, dtype=np.int64).reshape(len(ranks), metrics)
    return Part(np.array(ranks, dtype=np.uint32), array)


@st.composite
def parts(draw: st.DrawFn, shape: Shape = SHAPE) -> Part:
    """Any part that fits, whatever its values: bounds are the core's matter."""
    most = min(shape.max_rows, 6)
    ranks = draw(st.lists(st.integers(0, 2**32 - 2), max_size=most, unique=True))
    row = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=shape.metrics, max_size=shape.metrics)
    values = [draw(row) for _ in ranks]
    return part(sorted(ranks), values, metrics=shape.metrics)


def windows_of(unit: Unit, count: int) -> list[Window]:
    windows = [Window.parse("2026-11-02T00" if unit is Unit.HOUR else _FIRST[unit], unit)]
    while len(windows) < count:
        windows.append(windows[-1].next())
    return windows


_FIRST = {Unit.DAY: "2026-11-02", Unit.WEEK: "2026-11-02", Unit.MONTH: "2026-11-01"}


def same(left: Part, right: Part) -> bool:
    return (
        np.array_equal(left.ranks, right.ranks)
        and np.array_equal(left.values, right.values)
        and left.values.shape == right.values.shape
        and (left.ranks.dtype, left.values.dtype) == (np.uint32, np.int64)
    )


def read_slowly(raw: bytes, shape: Shape) -> dict[str, Any] | None:
    """What these bytes say, by the format's own words; nothing if they are no update.

    A MessagePack library reads them, each sentence of the documentation is checked on its own, and
    the same library has to write the same bytes again.
    """
    try:
        said = ormsgpack.unpackb(raw)
        if ormsgpack.packb(said) != raw:
            return None
        if list(said) != ["version", "windows", "cells", "values"]:
            return None
        ids, cells, values = said["windows"], said["cells"], said["values"]
        windows = [Window.parse(text, shape.unit) for text in ids]
        found = [_rows(c, v, shape) for c, v in zip(cells, values, strict=True)]
    except Exception:  # the reader of a test may be coarse
        return None
    right = said["version"] == 1 and said["version"] is not True and 1 <= len(windows) <= 16
    ordered = windows == sorted(set(windows))
    if not right or not ordered or len(windows) != len(found) or None in found:
        return None
    return dict(zip(ids, found, strict=True))


def _rows(cells: bytes, values: bytes, shape: Shape) -> list[tuple[int, list[int]]] | None:
    wide = 8 * shape.metrics
    if type(cells) is not bytes or type(values) is not bytes:
        return None
    if len(cells) != 4 * shape.max_rows or len(values) != wide * shape.max_rows:
        return None
    ranks = [int.from_bytes(cells[at : at + 4], "little") for at in range(0, len(cells), 4)]
    rows = [values[at : at + wide] for at in range(0, len(values), wide)]
    count = next((at for at, rank in enumerate(ranks) if rank == 2**32 - 1), len(ranks))
    if any(rank != 2**32 - 1 for rank in ranks[count:]) or any(any(row) for row in rows[count:]):
        return None
    if ranks[:count] != sorted(set(ranks[:count])):
        return None
    return [(rank, _numbers(row)) for rank, row in zip(ranks[:count], rows[:count], strict=True)]


def _numbers(row: bytes) -> list[int]:
    return [int.from_bytes(row[at : at + 8], "little", signed=True) for at in range(0, len(row), 8)]
