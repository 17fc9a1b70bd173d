"""The ledger: which phone sent which update for which window, and what became of it.

Only the simulator can know this: the server does not know a phone, and a phone's own word is what
is to be checked. Each update that leaves a phone is noted here under its random id. The server's
receipts tell which ids are in a release's sum. Held together, they show whether any phone is in a
sum twice, whatever the phones and the server believe.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Task and window.
Key = tuple[str, str]


@dataclass
class Ledger:
    """A row for each window of each update; 22 bytes a row, as there are millions."""

    keys: dict[Key, int] = field(default_factory=dict)
    key: array[int] = field(default_factory=lambda: array("H"))
    update: array[int] = field(default_factory=lambda: array("Q"))
    phone: array[int] = field(default_factory=lambda: array("Q"))
    # Civil hours after the server asked for it: when the window ended, or its hint was over.
    hours: array[float] = field(default_factory=lambda: array("f"))

    def note(self, key: Key, *, phone: int, update: str, hours: float) -> None:
        self.key.append(self.keys.setdefault(key, len(self.keys)))
        self.update.append(int(update, 16))
        self.phone.append(phone)
        self.hours.append(hours)

    def add(self, other: Ledger) -> None:
        """What another process noted, of other phones."""
        places = [self.keys.setdefault(key, len(self.keys)) for key in other.keys]
        self.key.extend(places[each] for each in other.key)
        self.update.extend(other.update)
        self.phone.extend(other.phone)
        self.hours.extend(other.hours)

    def of(self, key: Key) -> Sendings:
        place = self.keys.get(key)
        if place is None:
            return Sendings(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.float32))
        rows = np.frombuffer(self.key, dtype=np.uint16) == place
        return Sendings(
            update=np.frombuffer(self.update, dtype=np.uint64)[rows],
            phone=np.frombuffer(self.phone, dtype=np.uint64)[rows].astype(np.int64),
            hours=np.frombuffer(self.hours, dtype=np.float32)[rows],
        )


class Sendings(NamedTuple):
    """All that was sent for one window."""

    update: NDArray[np.uint64]
    phone: NDArray[np.int64]
    hours: NDArray[np.float32]


@dataclass(frozen=True)
class Verdict:
    """What became of the updates for one window of one task."""

    sent: int
    phones: int
    counted: int
    # Parts in the sum beyond the first of each phone. Must be 0.
    double: int
    # Phones that sent, and are not in the sum.
    lost: int
    # In the sum, and sent by no honest phone.
    strange: int
    # By phone: whether it is in the sum.
    contributed: NDArray[np.bool_]


def verdict(sent: Sendings, counted: bytes, *, phones: int) -> Verdict:
    """`counted`: the ids in the sum, 8 bytes each, as often as they are in it."""
    ids = np.frombuffer(counted, dtype=">u8").astype(np.uint64)
    order = np.argsort(sent.update)
    known, owner = sent.update[order], sent.phone[order]
    place = np.minimum(np.searchsorted(known, ids), max(len(known) - 1, 0))
    ours = known[place] == ids if len(known) else np.zeros(len(ids), dtype=bool)
    times = np.bincount(owner[place[ours]], minlength=phones)
    senders = np.unique(sent.phone)
    return Verdict(
        sent=len(np.unique(sent.update)),
        phones=len(senders),
        counted=len(ids),
        double=int((times[times > 1] - 1).sum()),
        lost=int((times[senders] == 0).sum()),
        strange=int((~ours).sum()),
        contributed=times > 0,
    )


def counted_ids(told: Mapping[str, Mapping[str, str]], key: Key) -> bytes:
    """From what the system's own exact counts say."""
    return bytes.fromhex(told.get(key[0], {}).get(key[1], ""))
