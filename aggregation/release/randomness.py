"""Random integers for the noise: AES-256 in counter mode under a key from the operating system.

Each stream draws its own key when it is made, keeps it in memory only, and is used for one
release. There is no way to give it a key, so no noise can ever be drawn again. Its words are
uniform to anyone who cannot tell AES-256 from a random permutation; the guarantee card says that
the randomness is computational.
"""

from __future__ import annotations

import os
from typing import NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

from aggregation.protocol.part import Integers

# Zeros to encrypt: what comes out is the key stream itself.
_ZEROS = memoryview(bytes(1 << 20))


class RandomIntegers:
    """Independent uniform integers, as many as asked for."""

    def __init__(self) -> None:
        self._stream = Cipher(AES(os.urandom(32)), CTR(bytes(16))).encryptor()

    def below(self, bound: int, count: int) -> Integers:
        """`count` integers, each uniform on 0 … bound − 1, exactly.

        A word of 2^b equally likely values is kept iff it lies below the largest multiple of
        `bound`, so each remainder has the same number of kept words; the others are drawn again.
        """
        if not 0 < bound <= 1 << 62:
            raise ValueError(bound)
        if bound == 1:
            return np.zeros(count, dtype=np.int64)
        size = 4 if bound <= 1 << 31 else 8
        words, values = self._words(count, size), 1 << (8 * size)
        limit = values - values % bound
        if limit < values:
            refused = np.flatnonzero(words >= limit)
            while len(refused):
                words[refused] = self._words(len(refused), size)
                refused = refused[words[refused] >= limit]
        if bound & (bound - 1):
            words %= words.dtype.type(bound)
        else:
            words &= words.dtype.type(bound - 1)
        return words.astype(np.int64)

    def bits(self, count: int) -> NDArray[np.bool_]:
        """`count` fair coins."""
        raw = np.frombuffer(self._bytes(-(-count // 8)), dtype=np.uint8)
        return np.unpackbits(raw, count=count).astype(np.bool_)

    def _words(self, count: int, size: int) -> NDArray[np.unsignedinteger]:
        return np.frombuffer(self._bytes(count * size), dtype=f"<u{size}").copy()

    def _bytes(self, count: int) -> bytes:
        if count <= len(_ZEROS):
            return self._stream.update(_ZEROS[:count])
        return self._stream.update(bytes(count))

    def __repr__(self) -> str:
        return "RandomIntegers(key withheld)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A stream of random integers is not copied: its noise would repeat.")
