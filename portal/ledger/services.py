"""Reserving, spending and freeing ε.

The argument. Let a device take part in every window of every task on a stream. By sequential
composition its loss in a civil week is at most the sum of ε over all windows that overlap the
week. Each such window is a charge before it may be collected (the database refuses a window
without one), a charge counts towards its week until it is freed, and only a window that has not
begun is freed: nothing was collected from it, so it cost nothing. The database refuses any charge
that takes reserved + spent above the cap, under the week's row lock. So the sum never exceeds the
cap, however many writers there are and in whatever order they come.

Each call locks all its weeks, in one order, before it records anything: callers in a longer
transaction call the ledger once, and before their own entries in the audit log.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from aggregation.clock import Clock
from aggregation.protocol.windows import Window
from portal import measuring
from portal.audit.services import Actor, Change, record
from portal.ledger.amounts import in_words
from portal.ledger.models import Charge, Week
from portal.ledger.weeks import mondays
from portal.problems import Conflict

# Stands where a task's name stands; no task can be called so.
FORGOTTEN = "(forgotten)"


class NotEnough(Conflict):
    """A week has less left than is asked for."""

    def __init__(self, week: Week, wanted: int, task: str) -> None:
        self.week = week
        super().__init__(
            f"{task} would cost {week.stream} ε {in_words(wanted)} in {week.label}, "
            f"and {in_words(week.left)} of {in_words(week.cap)} is left.",
            hint="Lower its ε, take a longer window, or end another task of this stream.",
        )


@transaction.atomic
def reserve(
    *,
    task: str,
    streams: Sequence[str],
    windows: Sequence[Window],
    hundredths: int,
    clock: Clock,
    actor: Actor | None = None,
    instead_of: Sequence[Window] = (),
) -> None:
    """Charge each window to each stream in each week it overlaps, or nothing at all (NotEnough).

    `instead_of` names windows that are charged already and get a new price: they are freed first.
    """
    _refuse_begun(task, [*windows, *instead_of], clock)
    wanted = _by_week(streams, windows)
    with _Weeks(wanted, _reserved(task, instead_of)) as weeks:
        _reserved(task, instead_of).update(state=Charge.State.FREED)
        weeks.follow_settings(clock)
        charges = weeks.charges(wanted, task, hundredths)
        Charge.objects.bulk_create(charges)
        weeks.record("ledger.reserved", task=task, clock=clock, actor=actor)


def spend(*, task: str, windows: Sequence[Window], clock: Clock, actor: Actor | None = None) -> int:
    """Windows were released, or were touched and never will be: their cost is final."""
    return settle(task=task, spent=windows, freed=(), clock=clock, actor=actor)


@transaction.atomic
def settle(
    *,
    task: str,
    spent: Sequence[Window],
    freed: Sequence[Window],
    clock: Clock,
    actor: Actor | None = None,
) -> int:
    """Spend some windows and free others in one step; says how many charges that moved."""
    _refuse_begun(task, freed, clock)
    with _Weeks((), _reserved(task, [*spent, *freed])) as weeks:
        moved = _reserved(task, spent).update(state=Charge.State.SPENT)
        moved += _reserved(task, freed).update(state=Charge.State.FREED)
        weeks.record("ledger.settled", task=task, clock=clock, actor=actor)
    return moved


@transaction.atomic
def use_up(*, streams: Sequence[str], mondays: Sequence[date], clock: Clock) -> int:
    """Spend what is left of these weeks; says of how many there was something left.

    For weeks of which nobody knows what they have cost: after a backup was put back. By the cap
    that holds now, which the backup may not know of; and later caps do not open them again, also
    where the backup knows that nothing was left.
    """
    with _Weeks([(stream, monday) for monday in mondays for stream in streams], _none()) as weeks:
        weeks.follow_settings(clock)
        found = weeks.charges_of_the_rest(FORGOTTEN)
        Charge.objects.bulk_create(found)
        Charge.objects.filter(task=FORGOTTEN, state=Charge.State.RESERVED).update(
            state=Charge.State.SPENT
        )
        weeks.close(clock)
        weeks.record("ledger.settled", task=FORGOTTEN, clock=clock, actor=None)
    return len(found)


class _Weeks:
    """The weeks of one call, made where they are missing and locked in one order."""

    def __init__(self, wanted: Iterable[tuple[str, date]], touched: QuerySet[Charge]) -> None:
        for stream, monday in sorted(wanted, key=lambda key: (key[1], key[0])):
            Week.objects.get_or_create(
                stream=stream, monday=monday, defaults={"cap": settings.WEEKLY_EPSILON}
            )
        keys = Q(pk__in=touched.values("week_id"))
        for stream, monday in wanted:
            keys |= Q(stream=stream, monday=monday)
        self._rows = Week.objects.filter(keys).order_by("monday", "stream")

    def __enter__(self) -> "_Weeks":
        self._weeks = list(self._rows.select_for_update(no_key=True))
        self._before = {week.pk: (week.cap, week.reserved, week.spent) for week in self._weeks}
        return self

    def __exit__(self, *_: object) -> None:
        """The locks last until the transaction ends."""

    def follow_settings(self, clock: Clock) -> None:
        """A cap changed in the settings holds from now on."""
        for week in self._weeks:
            week.refresh_from_db()
            cap = week.cap_over(week.reserved + week.spent)
            if cap != week.cap:
                week.cap = cap
                week.save(update_fields=["cap"])

    def charges(
        self, wanted: dict[tuple[str, date], list[Window]], task: str, hundredths: int
    ) -> list[Charge]:
        found = []
        for week in self._weeks:
            windows = wanted.get((week.stream, week.monday), [])
            if hundredths * len(windows) > week.left:
                measuring.count("ledger refusal", stream=week.stream)
                raise NotEnough(week, hundredths * len(windows), task)
            found += [Charge(week=week, task=task, window=w.id, amount=hundredths) for w in windows]
        return found

    def charges_of_the_rest(self, task: str) -> list[Charge]:
        """All that is left of each week, in the name of its first day."""
        return [
            Charge(week=week, task=task, window=week.monday.isoformat(), amount=week.left)
            for week in self._weeks
            if week.left
        ]

    def close(self, clock: Clock) -> None:
        ids = [week.pk for week in self._weeks]
        Week.objects.filter(pk__in=ids, closed_at=None).update(closed_at=clock.now())

    def record(self, action: str, *, task: str, clock: Clock, actor: Actor | None) -> None:
        """One entry a week that changed: by which task, and from what ε to what."""
        for week in self._weeks:
            week.refresh_from_db()
            before = map(in_words, self._before[week.pk])
            after = map(in_words, (week.cap, week.reserved, week.spent))
            names = ("cap", "reserved", "spent")
            moved = [c for c in map(Change, names, before, after) if c.before != c.after]
            if moved:
                changes = [Change("task", None, task), *moved]
                record(action=action, subject=week, clock=clock, actor=actor, changes=changes)


def _none() -> QuerySet[Charge]:
    return Charge.objects.none()


def _reserved(task: str, windows: Sequence[Window]) -> QuerySet[Charge]:
    ids = [window.id for window in windows]
    return Charge.objects.filter(task=task, window__in=ids, state=Charge.State.RESERVED)


def _by_week(
    streams: Sequence[str], windows: Sequence[Window]
) -> dict[tuple[str, date], list[Window]]:
    found: dict[tuple[str, date], list[Window]] = defaultdict(list)
    for window in windows:
        for monday in mondays(window):
            for stream in streams:
                found[stream, monday].append(window)
    return dict(found)


def _refuse_begun(task: str, windows: Sequence[Window], clock: Clock) -> None:
    now = clock.now()
    for window in windows:
        if window.start <= now:
            raise Conflict(
                f"The window {window.id} of {task} has begun: what it is charged stays as it is.",
                hint="Only windows that have not begun are reserved or freed.",
            )
