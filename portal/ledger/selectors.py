"""Reading the ledger: per stream and week, by task."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db.models import Count, Q, Sum

from aggregation.protocol.windows import Unit, Window
from portal.ledger.models import Charge, Week
from portal.ledger.weeks import mondays

_HELD = (Charge.State.RESERVED, Charge.State.SPENT)


@dataclass(frozen=True)
class Share:
    """What one task takes of a week, in hundredths."""

    task: str
    windows: int
    reserved: int
    spent: int


@dataclass(frozen=True)
class WeekFacts:
    """One stream in one week; a week nobody has charged yet is all left."""

    stream: str
    monday: date
    cap: int
    reserved: int
    spent: int
    shares: tuple[Share, ...]

    @property
    def label(self) -> str:
        year, week, _ = self.monday.isocalendar()
        return f"{year:04d}-W{week:02d}"

    @property
    def left(self) -> int:
        return max(0, self.cap - self.reserved - self.spent)


def ledger(*, streams: Sequence[str], first: date, weeks: int) -> dict[str, list[WeekFacts]]:
    """Each stream's weeks from a Monday on, in two queries."""
    wanted = [first + timedelta(weeks=number) for number in range(weeks)]
    rows = Week.objects.filter(stream__in=streams, monday__in=wanted)
    known = {(row.stream, row.monday): row for row in rows}
    shares = _shares(list(known.values()))
    return {
        stream: [_facts(stream, monday, known.get((stream, monday)), shares) for monday in wanted]
        for stream in streams
    }


def left_in(*, stream: str, monday: date) -> int:
    """Hundredths of ε that can still be reserved."""
    row = Week.objects.filter(stream=stream, monday=monday).first()
    return _facts(stream, monday, row, {}).left


def is_charged(*, task: str, window: Window, streams: Sequence[str], hundredths: int) -> bool:
    """Whether just what the window costs is reserved for it: its ε, of each of its streams, in each
    week that it overlaps."""
    reserved = Charge.objects.filter(task=task, window=window.id, state=Charge.State.RESERVED)
    found = reserved.values_list("week__stream", "week__monday", "amount")
    costs = [(stream, monday, hundredths) for monday in mondays(window) for stream in streams]
    return sorted(found) == sorted(costs)


def weeks_short_of(
    hundredths: int, *, streams: Sequence[str], windows: Sequence[Window]
) -> list[str]:
    """The weeks, in words, that have not enough left for even one of the windows."""
    wanted = {monday for window in windows for monday in mondays(window)}
    rows = Week.objects.filter(stream__in=streams, monday__in=wanted)
    return [str(row) for row in rows if _facts(row.stream, row.monday, row, {}).left < hundredths]


def monday_before(moment: datetime) -> date:
    return Window.containing(moment, Unit.WEEK).start.date()


def _facts(
    stream: str, monday: date, row: Week | None, shares: dict[int, tuple[Share, ...]]
) -> WeekFacts:
    if row is None:
        return WeekFacts(stream, monday, settings.WEEKLY_EPSILON, 0, 0, ())
    cap = row.cap_over(row.reserved + row.spent)
    return WeekFacts(stream, monday, cap, row.reserved, row.spent, shares.get(row.pk, ()))


def _shares(weeks: Sequence[Week]) -> dict[int, tuple[Share, ...]]:
    held = Charge.objects.filter(week__in=weeks, state__in=_HELD)
    totals = (
        held.order_by("task")
        .values("week_id", "task")
        .annotate(
            windows=Count("pk"),
            reserved=Sum("amount", filter=Q(state=Charge.State.RESERVED), default=0),
            spent=Sum("amount", filter=Q(state=Charge.State.SPENT), default=0),
        )
    )
    found: dict[int, tuple[Share, ...]] = {}
    for row in totals:
        share = Share(row["task"], row["windows"], row["reserved"], row["spent"])
        found[row["week_id"]] = (*found.get(row["week_id"], ()), share)
    return found
