"""A recording: events of many devices in columns; a row becomes an event when a phone needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aggregation.ondevice.events import Event


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """Events of many devices, those of each in order of time."""

    # Device i has the rows offsets[i] to offsets[i + 1].
    offsets: NDArray[np.int64]
    # Seconds since 1970, UTC.
    times: NDArray[np.float64]
    utc_offsets: NDArray[np.int64]
    # The stream's own columns, in the order of `event_columns`.
    values: Sequence[pa.Array]

    @classmethod
    def of(
        cls,
        devices: NDArray[np.int64],
        times: NDArray[np.float64],
        utc_offsets: NDArray[np.int64],
        values: Sequence[pa.Array],
    ) -> Recording:
        """From rows in any order; devices are numbered from 0."""
        order = np.lexsort((times, devices))
        offsets = np.concatenate([[0], np.cumsum(np.bincount(devices))]).astype(np.int64)
        rows = pa.array(order)
        taken = [column.take(rows) for column in values]
        return cls(offsets, times[order], utc_offsets[order], taken)

    @property
    def devices(self) -> int:
        return len(self.offsets) - 1

    @property
    def first(self) -> float:
        return float(self.times.min())

    @property
    def last(self) -> float:
        return float(self.times.max())

    def __len__(self) -> int:
        return len(self.times)

    def until(self, moment: float) -> int:
        """How many events there were up to this moment, on all devices together."""
        return int((self.times <= moment).sum())

    def between(self, device: int, start: float, end: float, *, shift: float) -> list[Event]:
        """This device's events, moved by `shift` seconds, with start ≤ time < end."""
        first, last = int(self.offsets[device]), int(self.offsets[device + 1])
        span = np.array([start, end]) - shift
        begin, stop = first + np.searchsorted(self.times[first:last], span, side="left")
        rows = slice(int(begin), int(stop))
        columns = [column[rows].to_pylist() for column in self.values]
        stamps = zip(self.times[rows].tolist(), self.utc_offsets[rows].tolist(), strict=True)
        return [
            Event(time + shift, offset, values)
            for (time, offset), values in zip(stamps, zip(*columns, strict=True), strict=True)
        ]

    def __repr__(self) -> str:
        return f"Recording({self.devices:,} devices, contents withheld)"
