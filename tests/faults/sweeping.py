"""The sweep after many faults: what marked phones sent, looked for in one pass over everything.

Of each spelling the first two bytes are looked for at every place, then eight, then all: a
thousand spellings take hardly longer than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import redis

from tests.privacy.canary import _dump, spellings

HEAD = 8


class Wanted:
    """Fault → secrets, in every spelling."""

    def __init__(self, secrets: Mapping[str, Iterable[bytes]]) -> None:
        self._faults = {
            spelling: fault
            for fault, each in secrets.items()
            for secret in each
            for spelling in spellings(secret)
        }
        assert min(map(len, self._faults)) >= HEAD
        heads = [spelling[:HEAD] for spelling in self._faults]
        self._heads = np.unique(np.frombuffer(b"".join(heads), dtype="<u8"))
        self._starts = np.zeros(1 << 16, dtype=bool)
        self._starts[(self._heads & 0xFFFF).astype(np.uint16)] = True

    def in_(self, haystack: bytes) -> set[str]:
        """The faults of which something is in there."""
        places = list(self._places(haystack))
        return {
            fault
            for spelling, fault in self._faults.items()
            if any(haystack.startswith(spelling, at) for at in places)
        }

    def _places(self, haystack: bytes) -> Iterator[int]:
        """Where eight bytes of a spelling begin."""
        raw = np.frombuffer(haystack, dtype=np.uint8)
        for odd in range(2):
            pairs = np.frombuffer(haystack[odd : odd + (len(haystack) - odd) // 2 * 2], "<u2")
            begin = np.flatnonzero(self._starts[pairs]) * 2 + odd
            begin = begin[begin + HEAD <= len(raw)]
            found = np.zeros(len(begin), dtype=np.uint64)
            for byte in range(HEAD):
                found |= raw[begin + byte].astype(np.uint64) << np.uint64(8 * byte)
            yield from begin[np.isin(found, self._heads)].tolist()


def sweep(
    folders: Iterable[Path], queue: redis.Redis, secrets: Mapping[str, Iterable[bytes]]
) -> dict[str, list[str]]:
    """Fault → where something of its marked phone was found."""
    wanted, found = Wanted(secrets), {fault: list[str]() for fault in secrets}
    for name, haystack in _everything(folders, queue):
        for fault in wanted.in_(haystack):
            found[fault].append(name)
    return found


def _everything(folders: Iterable[Path], queue: redis.Redis) -> Iterator[tuple[str, bytes]]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            # SQLite takes files away when nobody has it open: what is gone is not left.
            with suppress(FileNotFoundError):
                if path.is_file():
                    yield str(path.relative_to(folder)), path.read_bytes()
    for key in queue.scan_iter(count=1000):
        yield key.decode(errors="replace"), _dump(queue, key)
