"""Weeks to come that a running task cannot be charged for, as the ledger stands.

Windows are charged about a month ahead (`planning`). A week that has too little left is tried
again at every heartbeat until its windows begin; those that begin uncharged are skipped. This
says so while there is still time to lower an ε or to end another task.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from aggregation.protocol.windows import Unit, Window
from portal.ledger.amounts import in_words
from portal.ledger.selectors import left_in
from portal.ledger.weeks import mondays
from portal.tasks.models import Revision, Task
from portal.tasks.planning import by_week, missing_windows
from portal.tasks.selectors import running_revision


@dataclass(frozen=True)
class Shortage:
    """One stream in one week, in hundredths of ε, and the windows that hang on it."""

    stream: str
    week: str
    wanted: int
    left: int
    windows: tuple[Window, ...]

    @property
    def begins(self) -> datetime:
        """Until then something can be done."""
        return self.windows[0].start

    @property
    def sentence(self) -> str:
        return (
            f"{self.week} has ε {in_words(self.left)} of {self.stream} left, and this task needs "
            f"{in_words(self.wanted)} there."
        )


def shortages(task: Task, now: datetime) -> list[Shortage]:
    """What a running task lacks in the planned weeks, the nearest first."""
    revision = running_revision(task) if task.state == Task.State.ACTIVE else None
    if revision is None or revision.first_window is None:
        return []
    first = Window(revision.first_window, Unit(revision.window_unit))
    later = [w for w in missing_windows(task, first, now) if w.start > now]
    return [short for windows in by_week(later) for short in shortages_of(revision, windows)]


def shortages_of(revision: Revision, windows: Sequence[Window]) -> list[Shortage]:
    """Windows are charged together or not at all: one week that is short stops them all."""
    weeks = Counter(monday for window in windows for monday in mondays(window))
    found = [
        Shortage(
            stream=stream,
            week=Window.parse(monday.isoformat(), Unit.WEEK).label,
            wanted=count * revision.epsilon,
            left=left_in(stream=stream, monday=monday),
            windows=tuple(windows),
        )
        for monday, count in sorted(weeks.items())
        for stream in revision.streams
    ]
    return [short for short in found if short.left < short.wanted]
