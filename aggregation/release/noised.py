"""The noised integers of one release: the only thing a release stores, and its one source.

As bytes for a database row: MessagePack of version, shape, hash, and eight byte planes. The
numbers are folded (0, −1, 1, −2 … → 0, 1, 2, 3 …), so that small ones have zeros above; plane b
holds byte b of each, compressed where that helps. Noise cannot be compressed: 4.05 million
statistics at ε = 2 take about 11 MB, 3 % above their entropy. The hash is of the numbers,
not of how they are packed.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from aggregation.errors import Problem
from aggregation.protocol.part import Integers

_FORMAT = 1
_PLANES = 8
# No task declares as many; damaged bytes that say so are refused before memory is taken.
_MOST = 1 << 28
# A first look at a plane: what does not shrink here is noise, and is kept as it is.
_SAMPLE = 1 << 16


@dataclass(frozen=True, eq=False)
class Noised:
    """Noised sums of all declared cells, in grid units. May be seen by anyone the task allows."""

    # One row per cell, one column per metric.
    sums: Integers

    @cached_property
    def sha256(self) -> str:
        """Hash of a line `mayfly noised 1 <cells> <metrics>`, then int64, little-endian, by row."""
        cells, metrics = self.sums.shape
        digest = hashlib.sha256(f"mayfly noised 1 {cells} {metrics}\n".encode())
        digest.update(np.ascontiguousarray(self.sums, dtype="<i8").data)
        return digest.hexdigest()

    def encode(self) -> bytes:
        cells, metrics = self.sums.shape
        flat = self.sums.reshape(-1)
        folded = ((flat << 1) ^ (flat >> 63)).astype("<u8")
        planes = folded.view(np.uint8).reshape(-1, _PLANES)
        packed = tuple(_packed(planes[:, b].tobytes()) for b in range(_PLANES))
        return msgspec.msgpack.encode(_Stored(_FORMAT, cells, metrics, self.sha256, packed))

    @classmethod
    def decode(cls, raw: bytes) -> Noised:
        """What `encode` gave; anything else is refused."""
        try:
            noised = cls(_numbers(msgspec.msgpack.decode(raw, type=_Stored)))
        except (ValueError, zlib.error, msgspec.DecodeError):
            noised = None
        if noised is None:
            raise Problem(
                "The stored numbers of this release are damaged.",
                hint="Restore the database from a backup: a release is never computed again.",
            )
        return noised


class _Stored(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    version: int
    cells: int
    metrics: int
    sha256: str
    planes: tuple[bytes, ...]


# The first byte of a plane says how the rest is kept.
_AS_IT_IS, _DEFLATED = b"\0", b"\1"


def _packed(plane: bytes) -> bytes:
    sample = plane[:_SAMPLE]
    if len(zlib.compress(sample, 1)) > 0.97 * len(sample):
        return _AS_IT_IS + plane
    return _DEFLATED + zlib.compress(plane, 1)


def _unpacked(packed: bytes, length: int) -> NDArray[np.uint8]:
    if packed[:1] == _DEFLATED:
        # Never more than a plane: damaged bytes cannot fill the memory.
        plane = zlib.decompressobj().decompress(packed[1:], length + 1)
    else:
        plane = packed[1:]
    if packed[:1] not in (_AS_IT_IS, _DEFLATED) or len(plane) != length:
        raise ValueError
    return np.frombuffer(plane, dtype=np.uint8)


def _numbers(stored: _Stored) -> Integers:
    count = stored.cells * stored.metrics
    if stored.version != _FORMAT or len(stored.planes) != _PLANES or stored.cells < 0:
        raise ValueError
    if not 0 <= count <= _MOST:
        raise ValueError
    planes = np.empty((count, _PLANES), dtype=np.uint8)
    for b, packed in enumerate(stored.planes):
        planes[:, b] = _unpacked(packed, count)
    folded = planes.view("<u8")[:, 0].astype(np.uint64)
    flat = (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(np.int64)
    sums = flat.reshape(stored.cells, stored.metrics)
    if Noised(sums).sha256 != stored.sha256:
        raise ValueError
    return sums
