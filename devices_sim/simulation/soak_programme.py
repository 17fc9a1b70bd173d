"""The programme of a soak: what people do with tasks, and operators with keys, week by week.

It has the same eight parts however many weeks there are. On the stream of trips the tasks come so
near to the weekly budget that two activations do not fit: the ledger has to refuse them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from aggregation.errors import Problem
from aggregation.protocol.windows import Window

FEWEST_WEEKS: Final = 6
PARTS: Final = 8
# Keys are announced every so many weeks, and sign a week later.
ROTATION_WEEKS: Final = 6
KEY_KINDS: Final = ("approval", "worker", "release")

# Tasks by name, with the starting point that each is written from.
SPLIT, QUALITY, CYCLING = "soak-split", "soak-quality", "soak-cycling"
LENGTHS, RUSH, RUSH_AGAIN, GREEDY = "soak-lengths", "soak-rush", "soak-rush-again", "soak-greedy"
STARTING_POINTS: Final = {
    SPLIT: "country-modal-split",
    QUALITY: "assistant-quality",
    CYCLING: "cycling-by-hour",
    LENGTHS: "trip-lengths",
    RUSH: "daily-rush-hours",
    RUSH_AGAIN: "daily-rush-hours",
    GREEDY: "trip-lengths",
}


class What(StrEnum):
    START = "start"
    CHANGE = "change"
    PAUSE = "pause"
    RESUME = "activate again"
    END = "end"
    ANNOUNCE = "announce keys"
    ROTATE = "rotate keys"


@dataclass(frozen=True)
class Act:
    """One thing that somebody does, at a civil moment."""

    at: datetime
    what: What
    task: str = ""
    # ε per window of what is written; empty where nothing is.
    epsilon: str = ""
    # The ledger has to refuse it: less than this is left.
    is_refused: bool = False

    def __str__(self) -> str:
        cost = f" at ε {self.epsilon}" if self.epsilon else ""
        return f"{self.what} {self.task}{cost}".rstrip()


def programme(start: datetime, windows: Sequence[Window]) -> list[Act]:
    """All acts in order of time, for these weeks."""
    if len(windows) < FEWEST_WEEKS:
        raise Problem(
            f"A soak has at least {FEWEST_WEEKS} weeks, not {len(windows)}.",
            hint="Ask for more with --weeks.",
        )
    calendar = _Calendar(start, windows)
    return sorted([*_tasks(calendar), *_keys(calendar)], key=lambda act: act.at)


@dataclass(frozen=True)
class _Calendar:
    start: datetime
    weeks: Sequence[Window]

    def part(self, number: int) -> int:
        """The week in which a part begins."""
        return number * len(self.weeks) // PARTS

    def before(self, week: int) -> datetime:
        """So that a task runs from this week on."""
        return self.during(week - 1, day=3) if week else self.start

    def during(self, week: int, *, day: int = 2) -> datetime:
        return self.weeks[week].start + timedelta(days=day, hours=12)


def _tasks(calendar: _Calendar) -> Iterator[Act]:
    part, before, during = calendar.part, calendar.before, calendar.during
    pause, days = max(1, len(calendar.weeks) // 26), len(calendar.weeks) // 26
    yield Act(before(0), What.START, SPLIT, "1")
    yield Act(before(0), What.START, QUALITY, "1")
    yield Act(before(part(1)), What.START, CYCLING, "1.5")
    yield Act(before(part(1)), What.START, RUSH, "0.1")
    yield Act(before(part(2)), What.CHANGE, SPLIT, "1.1")
    # 1.1 + 1.5 are taken of 4.
    yield Act(during(part(2)), What.START, LENGTHS, "2", is_refused=True)
    yield Act(during(part(2), day=4), What.CHANGE, LENGTHS, "0.5")
    yield Act(during(part(1) + days, day=3), What.END, RUSH)
    yield Act(during(part(3)), What.PAUSE, QUALITY)
    yield Act(during(part(3) + pause), What.RESUME, QUALITY)
    # 1.1 + 1.5 + 0.5 are taken of 4.
    yield Act(during(part(5)), What.START, GREEDY, "1", is_refused=True)
    yield Act(during(part(5), day=4), What.CHANGE, CYCLING, "1.4")
    yield Act(during(part(6)), What.PAUSE, CYCLING)
    yield Act(during(part(6) + pause), What.RESUME, CYCLING)
    yield Act(during(part(6), day=4), What.END, LENGTHS)
    yield Act(before(part(7)), What.START, RUSH_AGAIN, "0.1")
    last = len(calendar.weeks) - 1
    yield Act(during(part(7) + days, day=3), What.END, RUSH_AGAIN)
    after = calendar.weeks[last].end + timedelta(hours=12)
    yield from (Act(after, What.END, task) for task in (SPLIT, QUALITY, CYCLING, GREEDY))


def _keys(calendar: _Calendar) -> Iterator[Act]:
    for week in range(2, len(calendar.weeks) - 2, ROTATION_WEEKS):
        yield Act(calendar.during(week, day=1), What.ANNOUNCE)
        yield Act(calendar.during(week + 1, day=1), What.ROTATE)
