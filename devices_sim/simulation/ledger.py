"""The ledger: which phone sent which update for which window, and what became of it.

Only the simulator can know this: the server does not know a phone, and a phone's own word is what
is to be checked. Each update that leaves a phone is noted here under its random id, and so is what
the phone hears of it. The server's receipts tell which ids are in a release's sum. Held together,
they show whether any phone is in a sum twice, or is not in it though it was told so, whatever the
phones and the server believe.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from devices_sim.device.once_only import Settle

# Task and window.
Key = tuple[str, str]


class Word(IntEnum):
    """The last that a phone knows of a window that it sent."""

    SENT = 0
    COUNTED = 1
    AGAIN = 2
    GIVEN_UP = 3

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES: Final = {
    Word.SENT: "no word of it came: the phone stopped, was wiped, or did not come back in time",
    Word.COUNTED: "said to be counted",
    Word.AGAIN: "its session ended without it, and it was not sent again in time",
    Word.GIVEN_UP: "nobody could say any more whether it is counted",
}


@dataclass
class Ledger:
    """A row for each window of each update, and for each word that came of it; 23 bytes a row, as
    there are millions."""

    keys: dict[Key, int] = field(default_factory=dict)
    key: array[int] = field(default_factory=lambda: array("H"))
    update: array[int] = field(default_factory=lambda: array("Q"))
    phone: array[int] = field(default_factory=lambda: array("Q"))
    # Civil hours after the server asked for it: when the window ended, or its hint was over.
    hours: array[float] = field(default_factory=lambda: array("f"))
    word: array[int] = field(default_factory=lambda: array("B"))

    def note(self, key: Key, *, phone: int, update: str, hours: float) -> None:
        """It is sent."""
        self._add(key, phone, int(update, 16), hours, Word.SENT)

    def heard(self, task: str, settled: Settle, *, phone: int) -> None:
        for word, windows in (
            (Word.COUNTED, settled.counted),
            (Word.AGAIN, settled.again),
            (Word.GIVEN_UP, settled.given_up),
        ):
            for window in windows:
                self._add((task, window), phone, 0, 0.0, word)

    def _add(self, key: Key, phone: int, update: int, hours: float, word: Word) -> None:
        self.key.append(self.keys.setdefault(key, len(self.keys)))
        self.update.append(update)
        self.phone.append(phone)
        self.hours.append(hours)
        self.word.append(word)

    def add(self, other: Ledger) -> None:
        """What another process noted, of other phones."""
        places = [self.keys.setdefault(key, len(self.keys)) for key in other.keys]
        self.key.extend(places[each] for each in other.key)
        self.update.extend(other.update)
        self.phone.extend(other.phone)
        self.hours.extend(other.hours)
        self.word.extend(other.word)

    def of(self, key: Key) -> Sendings:
        rows = np.frombuffer(self.key, dtype=np.uint16) == self.keys.get(key, -1)
        word = np.frombuffer(self.word, dtype=np.uint8)[rows]
        phone = np.frombuffer(self.phone, dtype=np.uint64)[rows].astype(np.int64)
        sent = word == Word.SENT
        return Sendings(
            update=np.frombuffer(self.update, dtype=np.uint64)[rows][sent],
            phone=phone[sent],
            hours=np.frombuffer(self.hours, dtype=np.float32)[rows][sent],
            words=Words(phone, word),
        )


class Words(NamedTuple):
    """What phones knew of one window, in the order in which each came to know it."""

    phone: NDArray[np.int64]
    word: NDArray[np.uint8]


class Sendings(NamedTuple):
    """All that was sent for one window."""

    update: NDArray[np.uint64]
    phone: NDArray[np.int64]
    hours: NDArray[np.float32]
    words: Words


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
    # Phones among them that were told at any time that they are in it. Must be 0.
    forgotten: int
    # The last that those lost have heard.
    last_words: Counter[Word]
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
    lost = senders[times[senders] == 0]
    told = np.unique(sent.words.phone[sent.words.word == Word.COUNTED])
    last = np.zeros(phones, dtype=np.uint8)
    last[sent.words.phone] = sent.words.word
    return Verdict(
        sent=len(np.unique(sent.update)),
        phones=len(senders),
        counted=len(ids),
        double=int((times[times > 1] - 1).sum()),
        lost=len(lost),
        forgotten=int((times[told] == 0).sum()),
        last_words=Counter(map(Word, last[lost].tolist())),
        strange=int((~ours).sum()),
        contributed=times > 0,
    )


def counted_ids(told: Mapping[str, Mapping[str, str]], key: Key) -> bytes:
    """From what the system's own exact counts say."""
    return bytes.fromhex(told.get(key[0], {}).get(key[1], ""))
