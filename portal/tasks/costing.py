"""What approving a revision would do to the ledger, week by week."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Sum

from aggregation.protocol.windows import Unit
from portal.ledger.amounts import in_words
from portal.ledger.models import Charge, Week
from portal.ledger.weeks import mondays
from portal.tasks.models import Revision, TaskWindow
from portal.tasks.planning import first_window, windows_ahead


@dataclass(frozen=True)
class Effect:
    """One stream in one week, in hundredths of ε."""

    week: Week
    # Held already, without what this task's windows to come hold now.
    taken: int
    wanted: int

    @property
    def cap(self) -> int:
        return self.week.cap_over(self.taken)

    @property
    def left(self) -> int:
        return self.cap - self.taken - self.wanted

    @property
    def fits(self) -> bool:
        return self.left >= 0

    @property
    def words(self) -> dict[str, str]:
        left = in_words(self.left) if self.fits else f"−{in_words(-self.left)}"
        amounts = {"taken": self.taken, "wanted": self.wanted, "cap": self.cap}
        return {name: in_words(amount) for name, amount in amounts.items()} | {"left": left}


def effects(revision: Revision, now: datetime) -> list[Effect]:
    """By week, then by stream: what the first weeks take, as an activation now would."""
    first = first_window(revision.task, Unit(revision.window_unit), now)
    count = Counter(m for w in windows_ahead(revision, first, now) for m in mondays(w))
    known = {
        (week.stream, week.monday): week
        for week in Week.objects.filter(stream__in=revision.streams, monday__in=list(count))
    }
    given_back = _given_back(revision, first.start)
    return [
        _effect(known.get((stream, monday)), stream, monday, number * revision.epsilon, given_back)
        for monday, number in sorted(count.items())
        for stream in revision.streams
    ]


def _effect(
    week: Week | None, stream: str, monday: date, wanted: int, given_back: dict[int, int]
) -> Effect:
    row = week or Week(stream=stream, monday=monday)
    taken = row.reserved + row.spent - given_back.get(row.pk or 0, 0)
    return Effect(row, taken, wanted)


def _given_back(revision: Revision, start: datetime) -> dict[int, int]:
    """Per week: what the task's windows to come hold, which the new price takes the place of."""
    later = revision.task.windows.filter(state=TaskWindow.State.UPCOMING, start__gte=start)
    held = Charge.objects.filter(
        task=revision.task.name,
        window__in=later.values("window"),
        state=Charge.State.RESERVED,
    )
    totals = held.order_by().values_list("week_id").annotate(Sum("amount"))
    return dict(totals)
