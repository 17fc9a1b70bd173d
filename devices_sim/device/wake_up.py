"""What one wake-up did: for the phone's owner, for tests, and for a fleet's own report."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from devices_sim.device.api_client import Meter
from devices_sim.device.once_only import Settle

# The paper's limit: a phone is kept awake no longer.
MAX_SECONDS: Final = 60.0


# Why a wake-up ended early, beside a phone's own conditions.
OUT_OF_TIME: Final = "The minute of this wake-up is over."
BUSY: Final = "The server is busy."
DECLINED: Final = "The server declined."
NO_ANSWER: Final = "The server did not answer."
NOT_SAVED: Final = "Nothing can be stored on this phone, so nothing is sent."


@dataclass(frozen=True)
class Sent:
    """An update that was stored and sent, or tried to."""

    task: str
    windows: tuple[str, ...]
    bytes: int
    # Its random id: what a session knows it by.
    update: str


@dataclass(frozen=True)
class Settled:
    """An update whose fate was decided, sent at this wake-up or an earlier one."""

    task: str
    update: str
    outcome: Settle


@dataclass
class WakeUp:
    """What it did, in counts and in sentences."""

    # Why nothing, or nothing more, was done; empty if all was.
    stopped: str = ""
    said: list[str] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    # Windows whose release began before anything was known of them.
    released: int = 0
    # One sentence each, as in the log.
    refusals: list[str] = field(default_factory=list)
    turned_away: int = 0
    meter: Meter = field(default_factory=Meter)
    # Civil seconds since 1970: the server's hint. Updates on their way are asked about before it.
    not_before: float = -math.inf
    on_their_way: int = 0
    # Events that apps reported at its beginning, and that are kept.
    kept: int = 0
    # Whether the server was asked what there is to do.
    checked_in: bool = False

    @property
    def counted(self) -> int:
        """Windows that the server says are counted."""
        return sum(len(each.outcome.counted) for each in self.settled)

    @property
    def again(self) -> int:
        """Windows that are not known to be counted, and may be sent again."""
        return sum(len(each.outcome.again) for each in self.settled)

    @property
    def given_up(self) -> int:
        """Windows of which nobody can say any more whether they are counted."""
        return sum(len(each.outcome.given_up) for each in self.settled)

    @property
    def refused(self) -> int:
        return len(self.refusals)


class OutOfTime(Exception):
    """The wake-up's minute is over."""


class NotSaved(Exception):
    """The phone's storage failed: what it remembers is what it saved last."""


class Deadline:
    """By machine time: civil time may jump, or be simulated."""

    __slots__ = ("_end", "_machine")

    def __init__(self, machine: Callable[[], float]) -> None:
        self._machine = machine
        self._end = machine() + MAX_SECONDS

    @property
    def left(self) -> float:
        return self._end - self._machine()

    def check(self) -> None:
        if self.left <= 0:
            raise OutOfTime
