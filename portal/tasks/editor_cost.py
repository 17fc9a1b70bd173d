"""What a task would reserve in the coming weeks, and what others leave of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from msgspec import UNSET

from aggregation.compiler import Compiled
from aggregation.protocol.windows import Unit, Window
from portal.ledger.amounts import in_words
from portal.ledger.models import Charge, Week
from portal.ledger.weeks import mondays

WEEKS = 4


@dataclass(frozen=True)
class WeekCost:
    """One stream in one civil week; amounts are ε in hundredths."""

    stream: str
    label: str
    cap: int
    # Reserved and spent by other tasks, and by this one where its windows have begun.
    taken: int
    # What this task would take, at most.
    wanted: int

    @property
    def left(self) -> int:
        return self.cap - self.taken - self.wanted

    @property
    def fits(self) -> bool:
        return self.left >= 0

    @property
    def words(self) -> dict[str, str]:
        amounts = {"cap": self.cap, "taken": self.taken, "wanted": self.wanted}
        left = in_words(self.left) if self.fits else f"−{in_words(-self.left)}"
        return {**{name: in_words(amount) for name, amount in amounts.items()}, "left": left}

    @property
    def of_others(self) -> str:
        """What others hold, and leave."""
        left = in_words(max(0, self.cap - self.taken))
        return f"{in_words(self.taken)} of {self.stream} in {self.label}, which leaves {left}"


@dataclass(frozen=True)
class Cost:
    epsilon: str
    unit: Unit
    weeks: tuple[WeekCost, ...]
    # It runs one window, and no other.
    once: bool = False

    @property
    def fits(self) -> bool:
        return all(week.fits for week in self.weeks)

    @property
    def most(self) -> str:
        """What the dearest week takes."""
        return in_words(max((week.wanted for week in self.weeks), default=0))

    @property
    def are_others(self) -> bool:
        """Whether other tasks hold something of the week that has least left."""
        return self.tightest.taken > 0

    @property
    def tightest(self) -> WeekCost:
        return min(self.weeks, key=lambda week: week.left)

    @property
    def shortage(self) -> str:
        """Why it could not be approved as the ledger stands; empty where it could."""
        if self.fits:
            return ""
        week = self.tightest
        return f"others hold {week.of_others}, and this task needs {in_words(week.wanted)}"


def cost(compiled: Compiled, *, task: str, now: datetime) -> Cost:
    """The task's cost in the weeks after this one, on each of its streams; that of a task with a
    built-in step in the weeks of its one window."""
    config = compiled.server_config
    hundredths = int(Decimal(config.epsilon) * 100)
    once = compiled.client_task.step is not UNSET
    first = Window.containing(now, config.window_unit).next()
    weeks = weeks_of(first) if once else coming_weeks(now)
    costs = [
        _week(stream, week, hundredths * (1 if once else windows_in(week, first.unit)), task)
        for stream in config.streams
        for week in weeks
    ]
    return Cost(config.epsilon, config.window_unit, tuple(costs), once)


def coming_weeks(now: datetime) -> list[Window]:
    week = Window.containing(now, Unit.WEEK)
    return [
        Window.containing(week.start + timedelta(weeks=n), Unit.WEEK) for n in range(1, WEEKS + 1)
    ]


def weeks_of(window: Window) -> list[Window]:
    return [Window.parse(monday.isoformat(), Unit.WEEK) for monday in mondays(window)]


def windows_in(week: Window, unit: Unit) -> int:
    """How many windows of a unit overlap a civil week."""
    window, count = Window.containing(week.start, unit), 0
    while window.start < week.end:
        window, count = window.next(), count + 1
    return count


def _week(stream: str, week: Window, wanted: int, task: str) -> WeekCost:
    monday = week.start.date()
    row = Week.objects.filter(stream=stream, monday=monday).first() or Week()
    taken = row.reserved + row.spent - _own(row, task)
    return WeekCost(stream, week.label, row.cap_over(taken), taken, wanted)


def _own(row: Week, task: str) -> int:
    """What this task has reserved there already: a new revision takes its place."""
    own: Sequence[int] = list(
        Charge.objects.filter(week_id=row.pk, task=task, state=Charge.State.RESERVED).values_list(
            "amount", flat=True
        )
    )
    return sum(own)
