"""Update bytes: what one device sends for one client task, one part per window.

A MessagePack map with the keys `version`, `windows`, `cells` and `values`, in this order. Per
window, `cells` has `max_rows` little-endian uint32 ranks, strictly increasing, then filler; and
`values` has as many rows of little-endian int64, zero beside filler. Only these bytes are an
update: whatever is packed is unpacked to the same parts, and whatever is unpacked would be packed
to the same bytes. So nothing can be said by how an update is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aggregation.errors import Problem
from aggregation.protocol.part import Part
from aggregation.protocol.refusal import BadUpdate, Reason
from aggregation.protocol.unpacking import Batch, unpack_batch
from aggregation.protocol.update_layout import (
    FILLER,
    MAX_LENGTH,
    MAX_WINDOWS,
    VERSION,
    Shape,
    encode,
    length,
    most_windows,
)
from aggregation.protocol.windows import Window

__all__ = [
    "FILLER",
    "MAX_LENGTH",
    "MAX_WINDOWS",
    "VERSION",
    "BadUpdate",
    "Batch",
    "Reason",
    "Shape",
    "length",
    "most_windows",
    "pack",
    "unpack",
    "unpack_batch",
]


# FILLER is four times this byte.
_FILLER: Final = b"\xff"


def pack(parts: Mapping[Window, Part], shape: Shape) -> bytes:
    """The bytes of an update with these parts, padded to the length all such updates have."""
    windows = sorted(parts)
    if not 1 <= len(windows) <= most_windows(shape):
        raise Problem(
            f"An update of this task has 1 to {most_windows(shape)} windows, not {len(windows)}.",
            hint="Send the others in another update.",
        )
    for window in windows:
        _refuse_misfit(window, parts[window], shape)
    return encode(
        [window.id for window in windows],
        [_cells(parts[window], shape) for window in windows],
        [_values(parts[window], shape) for window in windows],
    )


def unpack(raw: bytes, shape: Shape) -> tuple[tuple[Window, ...], tuple[Part, ...]]:
    """The windows and parts of an update; anything but canonical bytes is a `BadUpdate`."""
    batch = unpack_batch([raw], shape)
    if batch.refused:
        raise BadUpdate(batch.refused[0])
    (windows,) = batch.windows
    return windows, tuple(batch.parts[window][0] for window in windows)


def _refuse_misfit(window: Window, part: Part, shape: Shape) -> None:
    """A fault of the device's own program, not of anyone's data."""
    if window.unit is not shape.unit:
        raise Problem(f"{window.id} is a {window.unit} window; the task has {shape.unit}s.")
    ranks, values = part.ranks, part.values
    if len(ranks) > shape.max_rows or values.shape != (len(ranks), shape.metrics):
        raise Problem(f"A part is {values.shape}, more than {shape.max_rows} × {shape.metrics}.")
    if (ranks[1:] <= ranks[:-1]).any() or (len(ranks) and int(ranks[-1]) >= FILLER):
        raise Problem("The ranks of a part are not strictly increasing cells.")


def _cells(part: Part, shape: Shape) -> bytes:
    return part.ranks.astype("<u4").tobytes().ljust(4 * shape.max_rows, _FILLER)


def _values(part: Part, shape: Shape) -> bytes:
    return part.values.astype("<i8").tobytes().ljust(8 * shape.max_rows * shape.metrics, b"\0")
