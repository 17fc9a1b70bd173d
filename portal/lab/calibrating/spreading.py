"""Devices of a proxy population, asked some thousands at a time in several processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from aggregation.ondevice.bounding import Rows
from portal.lab.pieces import Tell, worked_off

# The query's results of devices first … end − 1.
Work = Callable[[int, int], Rows]
# Devices asked at a time: whole blocks of the made-up world.
_DEVICES: Final = 5120


def spread(count: int, work: Work, watch: Tell, *, processes: int) -> Rows:
    """Results of all devices, in their order."""
    spans = [(first, min(first + _DEVICES, count)) for first in range(0, count, _DEVICES)]

    def ask(span: tuple[int, int], tell: Tell) -> Rows:
        rows = work(*span)
        tell(1.0)
        return rows

    return _joined(worked_off(spans, ask, watch, processes=processes))


def _joined(parts: Sequence[Rows]) -> Rows:
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    return Rows(
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate([part.ranks for part in parts]),
        np.concatenate([part.values for part in parts]),
    )
