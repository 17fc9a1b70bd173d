"""The local log: what left this phone, when and why, and what it refused. For its owner alone.

The entry about an update is part of the transaction before it leaves: none goes out that the log
does not know of.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from devices_sim.device.state import Entry, State

# Lines a phone keeps unless told otherwise; the oldest go first.
MAX_ENTRIES: Final = 200


@dataclass(frozen=True)
class Line:
    """One entry in words."""

    at: datetime
    what: str
    why: str
    # That left the phone.
    bytes: int
    # How often, the last time at `at`.
    times: int

    def __str__(self) -> str:
        size = f" ({self.bytes:,} bytes)" if self.bytes else ""
        often = f" [{self.times} times]" if self.times > 1 else ""
        return f"{self.at:%Y-%m-%d %H:%M} {self.what}{size}{often} {self.why}".rstrip()


def add(
    state: State,
    now: float,
    kind: str,
    subject: str,
    *,
    windows: tuple[str, ...] = (),
    why: str = "",
    size: int = 0,
) -> None:
    """Add an entry; one that says the same as an earlier one takes its place and counts on."""
    times = 1
    for index, entry in enumerate(state.log):
        if (
            entry.kind == kind
            and entry.subject == subject
            and entry.windows == windows
            and entry.why == why
        ):
            size, times = size + entry.size, entry.times + 1
            del state.log[index]
            break
    state.log.append(Entry(int(now), kind, subject, windows, why, size, times))


def lines(state: State) -> list[Line]:
    return [_in_words(entry) for entry in state.log]


_WORDS: Final = {
    "installed": "Started for the first time.",
    "damaged": "What was stored could not be read; started anew.",
    "opted_in": "You agreed to {subject}.",
    "opted_out": "You withdrew {subject}; its events and updates on their way were deleted.",
    "active": "Told the server that this feature is in use, once, with no name.",
    "check_in": "Asked which tasks are open for {subject}.",
    "asked": "Asked to take part in {subject}.",
    "turned_away": "The server has no place in {subject} just now.",
    "sent": "Sent a sealed update for {subject}, {windows}.",
    "counted": "{subject}, {windows}: counted.",
    "again": "{subject}, {windows}: not known to be counted; sent again if it is still open.",
    "given_up": "{subject}, {windows}: given up.",
    "refused": "Refused {subject}.",
    "failed": "{subject} could not be run.",
}


def _in_words(entry: Entry) -> Line:
    words = _WORDS.get(entry.kind, entry.kind)
    what = words.format(subject=entry.subject, windows=", ".join(entry.windows))
    at = datetime.fromtimestamp(entry.at, UTC)
    return Line(at, _plain(what), _plain(entry.why), entry.size, entry.times)


def _plain(text: str) -> str:
    """Names come from a server: what could steer a terminal does not get through."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
