"""State: all that a phone remembers. It is read at a wake-up, saved as a whole, and freed.

Lists instead of names in the stored bytes: a phone at rest takes less than 2 kB.
"""

from __future__ import annotations

from typing import Final

import msgspec

from aggregation.ondevice.events import Event
from aggregation.protocol.windows import Unit
from devices_sim.device.once_only import Record, Stage

VERSION: Final = 1


class Entry(msgspec.Struct, array_like=True, frozen=True):
    """One line of the local log; `local_log` puts it into words."""

    # Seconds since 1970 by the phone's own civil clock.
    at: int
    kind: str
    # A task, a stream or a population.
    subject: str
    windows: tuple[str, ...] = ()
    why: str = ""
    # Bytes that left the phone.
    size: int = 0
    times: int = 1


class Progress(msgspec.Struct, array_like=True):
    """What has become of the windows of one task, or of one client task."""

    unit: Unit
    # The high watermark: no window that begins before it is ever run again. Only goes up.
    high: str
    # Processed windows from the high watermark on, in order.
    done: list[str] = []
    # Windows that were run but not counted, and the client task they stay with.
    again: dict[str, str] = {}
    # The newest window that was counted.
    counted: str = ""
    # The civil day of the last run, and how many there were on it.
    day: str = ""
    runs: int = 0


class Pending(msgspec.Struct, array_like=True, repr_omit_defaults=True):
    """An update on its way: what the once-only rule needs, and the sealed bytes until queued."""

    task: str
    client_task: str
    session: str
    update: str
    token: str
    unit: Unit
    windows: tuple[str, ...]
    streams: tuple[str, ...]
    stage: Stage
    sealed: bytes

    @property
    def record(self) -> Record:
        return Record(self.session, self.update, self.windows, self.stage)

    def __repr__(self) -> str:
        return f"Pending({self.task}, {self.windows}, contents withheld)"


class Budget(msgspec.Struct, array_like=True):
    """The phone's own ε ledger, in hundredths."""

    # Weeks that begin before this Monday are closed. Only goes up.
    floor: str = ""
    # Monday → stream → ε spent.
    weeks: dict[str, dict[str, int]] = {}


class State(msgspec.Struct, array_like=True):
    """Everything. Times are seconds since 1970 by the phone's own civil clock."""

    version: int
    # This install's first start.
    started: float
    # Whether the server was told, once and without a name, that the feature is in use.
    announced: bool = False
    # When the server's last hint came, and until when it asks for quiet.
    hint: tuple[float, float] | None = None
    # Stream → since when its owner agrees.
    consents: dict[str, float] = {}
    events: dict[str, list[Event]] = {}
    tasks: dict[str, Progress] = {}
    client_tasks: dict[str, Progress] = {}
    pending: list[Pending] = []
    budget: Budget = msgspec.field(default_factory=Budget)
    log: list[Entry] = []

    def __repr__(self) -> str:
        return "State(contents withheld)"


_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(State)


def to_bytes(state: State) -> bytes:
    return _encoder.encode(state)


def from_bytes(blob: bytes) -> State | None:
    """The state as it was saved, or nothing if these bytes are none."""
    try:
        state = _decoder.decode(blob)
    except msgspec.DecodeError:
        return None
    return state if state.version == VERSION else None
