"""Receipts: the ids of the updates that are in a window's sum, by the session they were sent to.

A receipt is what makes a retry safe: a device may send a window again only once its session is
over and its id has no receipt. So the receipts of a window name exactly the updates in its sum,
and travel with it when it is handed over. An id is 8 random bytes that the server made for one
assignment; it says nothing about the device.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

from aggregation.errors import Problem
from aggregation.protocol.ids import UPDATE_BYTES, is_session_id, raw_update
from aggregation.sessions.withheld import Withheld

# Session the updates were sent to → its ids in this sum, sorted and joined.
PackedReceipts = Mapping[str, bytes]


class Receipts(Withheld):
    """Receipts of one window."""

    def __init__(self) -> None:
        self._ids: dict[str, set[bytes]] = {}

    def add(self, origin: str, ids: Collection[bytes]) -> None:
        """Receipts for more updates; one that is there already would mean a double count."""
        known = self._ids.setdefault(origin, set())
        expected = len(known) + len(ids)
        known.update(ids)
        if len(known) != expected:
            raise Problem("An update was to be counted twice in one window.")

    def __len__(self) -> int:
        return sum(map(len, self._ids.values()))

    def clashes_with(self, other: Receipts) -> bool:
        """Whether an update is in both."""
        shared = self._ids.keys() & other._ids.keys()
        return any(not self._ids[one].isdisjoint(other._ids[one]) for one in shared)

    def has_origin(self, session: str) -> bool:
        return session in self._ids

    def take_in(self, other: Receipts) -> None:
        for origin, ids in other._ids.items():
            self.add(origin, ids)

    def packed(self) -> dict[str, bytes]:
        """In sorted order, which says nothing about who came first."""
        return {origin: b"".join(sorted(self._ids[origin])) for origin in sorted(self._ids)}

    @classmethod
    def parse(cls, packed: PackedReceipts) -> Receipts:
        """The receipts that `packed` gave; a `ValueError` for anything else."""
        found = cls()
        for origin, blob in packed.items():
            ids = list(_ids(blob))
            if not is_session_id(origin) or any(a >= b for a, b in pairwise(ids)):
                raise ValueError
            found._ids[origin] = set(ids)
        return found


def has_receipt(blob: bytes, update: str) -> bool:
    """Whether this update is among the packed ids of its session and one window."""
    wanted, count = raw_update(update), len(blob) // UPDATE_BYTES
    at = bisect_left(range(count), wanted, key=lambda number: _id(blob, number))
    return at < count and _id(blob, at) == wanted


def _ids(blob: bytes) -> Iterator[bytes]:
    if len(blob) % UPDATE_BYTES:
        raise ValueError
    return (_id(blob, number) for number in range(len(blob) // UPDATE_BYTES))


def _id(blob: bytes, number: int) -> bytes:
    return blob[UPDATE_BYTES * number : UPDATE_BYTES * (number + 1)]
