"""Phones at rest: what the phones of a fleet keep while nobody runs them, in one file.

A real phone keeps its state through a restart; so do these. The file is there from the moment at
which a fleet was stopped in good order to the next start, which takes it away before any phone does
anything. A fleet that was killed leaves none, and its phones are new installs: a phone that came
back with an older state would have forgotten what it sent, and send it again.

It holds what made-up people did, for the eyes of their owner alone, as on a phone. It is no part of
the server, which neither reads nor writes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from devices_sim.device.storage import FileStorage
from devices_sim.fleet.scenario import Scenario


class Resting(msgspec.Struct, array_like=True, frozen=True):
    """One phone: its packed state, and what is known of it beside."""

    number: int
    packed: bytes
    # Of the state, unpacked.
    size: int
    # What happened before this civil moment is on the phone.
    given: float
    will_stop: bool

    def __repr__(self) -> str:
        return f"Resting({self.number}, contents withheld)"


class Rest(msgspec.Struct, array_like=True, frozen=True):
    """All phones of a fleet that have been awake, and the civil moment at which it began."""

    start: float
    phones: Sequence[Resting]

    def __repr__(self) -> str:
        return "Rest(contents withheld)"


def place_of(folder: Path, scenario: Scenario, url: str) -> Path:
    """Where the phones of this world rest that know this portal."""
    named = hashlib.sha256(msgspec.json.encode((scenario, url), order="sorted")).hexdigest()
    return folder / named[:32]


def keep(rest: Rest, place: Path) -> None:
    """All of it, or nothing."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    FileStorage(place).save(msgspec.msgpack.encode(rest))


def take(place: Path) -> Rest | None:
    """What was kept, once; nothing if there is none, or if it cannot be read."""
    blob = FileStorage(place).load()
    if blob is None:
        return None
    place.unlink()
    try:
        return msgspec.msgpack.decode(blob, type=Rest)
    except msgspec.DecodeError:
        return None
