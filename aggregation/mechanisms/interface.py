"""What every mechanism offers: encode on the device, decode on the server, one sensitivity.

A mechanism here is linear and public. Per slice of cells it has an encoding, which takes a row of
metric values to real numbers u scaled so that the clip bound is 1, and a decoding, which takes
noised sums of grid units back to metric units. Between them lies the integer clip
(`ondevice.bounding`), which turns u into whole grid units q with Σ|q| ≤ K = GRID for one device
and one window, whatever the encoding says.

The guarantee that all four mechanisms share. Neighbouring data sets differ by one device's whole
contribution to one window, added or removed. The published sums are integers, Σ over devices of
q, so they differ by one device's q: an L1 distance of at most K. It is checked on the device, and
checked again by the session that adds it up; integer sums are exact, so it is not blurred by
rounding. Discrete Laplace noise of scale K/ε on **every** declared coordinate then gives
ε-differential privacy: for each output the two probabilities have ratio at most
exp(ε/K · Σ|q|) ≤ exp(ε). The parameters are public and fixed before any window begins, decoding
reads nothing but the noised sums, so whatever a mechanism's parameters are, they move accuracy,
never privacy. No randomness lives here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregation.mechanisms.noise_law import Noise, noise_of
from aggregation.mechanisms.slices import Slicing
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.part import Floats, Integers

# Rows decoded at a time: their matrices stay in the processor's cache.
_CHUNK = 1 << 15


@dataclass(frozen=True)
class Finding:
    """Why parameters cannot be used: where, a sentence, and what to do about it."""

    # Path inside the mechanism, such as `clip` or `scales.driving.distance_km`.
    field: str
    message: str
    hint: str


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """A mechanism's arrays for one task, built once and read by every encode and decode."""

    metrics: tuple[str, ...]
    slicing: Slicing
    # Per slice, u = encoding @ h: (slices, metrics) where each metric is only scaled, else
    # (slices, metrics, metrics).
    encoding: Floats
    # Per slice, h = decoding @ q, in the same shape.
    decoding: Floats
    # 1: all coordinates of a device share the bound K. n: each (slice, metric) is clipped on its
    # own to ⌊K/n⌋ units.
    shares: int = 1

    @property
    def sensitivity(self) -> int:
        """The most that Σ|q| of one device in one window can be; the noise has scale this / ε."""
        return GRID

    @property
    def units(self) -> int:
        """Grid units that stand for one clip bound."""
        return GRID // self.shares

    def encode(self, ranks: NDArray[np.integer], values: Floats) -> Floats:
        """Rows of metric values on cells → rows of real u whose clip bound is 1."""
        return self._apply(self.encoding, ranks, values)

    def decode(self, sums: Integers, *, first: int = 0) -> Floats:
        """Noised sums of the cells first, first + 1, … → metric values."""
        out = np.empty(sums.shape, dtype=np.float64)
        for at in range(0, len(sums), _CHUNK):
            chunk = sums[at : at + _CHUNK].astype(np.float64)
            ranks = np.arange(first + at, first + at + len(chunk))
            out[at : at + _CHUNK] = self._apply(self.decoding, ranks, chunk)
        return out

    def decode_cells(self, ranks: NDArray[np.integer], sums: Integers) -> Floats:
        """Noised sums of these cells → metric values."""
        return self._apply(self.decoding, ranks, sums.astype(np.float64))

    def noise(self, *, epsilon: float, level: float = 0.95) -> Noise:
        """The size of the noise in metric units, per slice (first axis) and metric."""
        return noise_of(self.decoding, epsilon=epsilon, level=level)

    def clip_groups(self, ranks: NDArray[np.integer]) -> Integers | None:
        """Which of the `shares` each coordinate is clipped in; nothing if all share one."""
        if self.shares == 1:
            return None
        first = self.slicing.of(ranks)[:, None] * len(self.metrics)
        return first + np.arange(len(self.metrics))

    def _apply(self, factors: Floats, ranks: NDArray[np.integer], rows: Floats) -> Floats:
        if factors.ndim == 2 and len(factors) == 1:
            return rows * factors
        if len(factors) > 1:
            own = factors[self.slicing.of(ranks)]
        else:
            own = np.broadcast_to(factors, (len(rows), *factors.shape[1:]))
        if factors.ndim == 2:
            return rows * own
        mixed: Floats = np.einsum("nij,nj->ni", own, rows)
        return mixed
