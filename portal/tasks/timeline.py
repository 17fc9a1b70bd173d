"""A task's windows as the paper draws them: on the devices, and on the server.

On a device a window lasts from its start to its end. Only then does the server take contributions
to it, until the grace is over and the window is released. Times run to the right, at one scale.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from portal.tasks.models import TaskWindow

WIDTH = 896
LEFT = 84
_SHOWN = 9
# How many of those lie before the window under way.
_BEFORE = 3
# What a colour says, in the order of a window's life.
_KEYS = {
    "good": "released",
    "warning": "skipped",
    "info": "under way",
    "neutral": "planned",
    "paused": "skipped unless the task is resumed before",
}


@dataclass(frozen=True)
class Strip:
    x: float
    width: float
    label: str
    colour: str
    title: str

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True)
class Takeover:
    """Where another revision takes over."""

    x: float
    label: str


@dataclass(frozen=True)
class Timeline:
    on_devices: tuple[Strip, ...]
    on_server: tuple[Strip, ...]
    takeovers: tuple[Takeover, ...]
    # Where now is; None if it lies outside.
    now: float | None
    width: int = WIDTH

    @property
    def keys(self) -> list[tuple[str, str]]:
        """What the colours say that are there."""
        drawn = {strip.colour for strip in self.on_devices}
        return [(colour, words) for colour, words in _KEYS.items() if colour in drawn]


def timeline(
    rows: Sequence[TaskWindow], now: datetime, *, is_paused: bool = False
) -> Timeline | None:
    """The windows around now; None if there are none."""
    shown = _around(rows, now)
    if not shown:
        return None
    start, end = _start(shown[0], now), max(row.due_at for row in shown)

    def at(moment: datetime) -> float:
        return round(LEFT + (WIDTH - LEFT - 2) * ((moment - start) / (end - start)), 1)

    return Timeline(
        on_devices=tuple(_strip(row, at(row.start), at(row.end), is_paused) for row in shown),
        on_server=tuple(_strip(row, at(row.end), at(row.due_at), is_paused) for row in shown),
        takeovers=tuple(_takeovers(shown, at)),
        now=at(now) if start <= now <= end else None,
    )


def _start(first: TaskWindow, now: datetime) -> datetime:
    """Now is drawn, too, where the first window is at most a window's length ahead."""
    return now if first.start - (first.end - first.start) <= now < first.start else first.start


def _around(rows: Sequence[TaskWindow], now: datetime) -> Sequence[TaskWindow]:
    begun = sum(row.start <= now for row in rows)
    first = max(0, min(begun - 1 - _BEFORE, len(rows) - _SHOWN))
    return rows[first : first + _SHOWN]


def _strip(row: TaskWindow, left: float, right: float, is_paused: bool) -> Strip:
    state = TaskWindow.State(row.state)
    waits = is_paused and state is TaskWindow.State.UPCOMING
    colour = "paused" if waits else state.colour
    label = row.as_window().label
    title = f"{label}, revision {row.revision.number}: {state.label.lower()}. {row.reason}".strip()
    return Strip(left + 1, max(2.0, round(right - left - 2, 1)), label, colour, title)


def _takeovers(rows: Sequence[TaskWindow], at: Callable[[datetime], float]) -> list[Takeover]:
    found = []
    for before, after in zip([None, *rows[:-1]], rows, strict=True):
        if before is None or before.revision_id != after.revision_id:
            found.append(Takeover(at(after.start), f"r{after.revision.number}"))
    return found


def next_release(rows: Sequence[TaskWindow], now: datetime) -> TaskWindow | None:
    """The window that is released next, as far as is planned."""
    states = ("upcoming", "collecting", "grace")
    waiting = [row for row in rows if row.state in states and row.due_at > now]
    return min(waiting, key=lambda row: row.due_at, default=None)
