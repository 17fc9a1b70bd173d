"""Sessions and partials as operators may see them. Every count of updates is coarse already here.

One object feeds the page, its live stream and the metrics, so that none of them can show more than
the others. Rates are by the minute: what a second brings would be too few to be told.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import redis
from django.conf import settings
from django.db.models import Count, QuerySet

from aggregation.protocol.refusal import Reason
from portal import heartbeats
from portal.collection import placing
from portal.collection.at_rest import Check, checks
from portal.collection.coarse import coarse, coarse_number
from portal.collection.levels import Level, levels
from portal.collection.models import Session
from portal.collection.said import Said, said

_LOST_SHOWN = 8
LOST_WITHIN = timedelta(days=1)


@dataclass(frozen=True)
class Quantity:
    """A count of updates or devices, in words and for programs, both coarse."""

    words: str
    number: int

    @classmethod
    def of(cls, count: float) -> "Quantity":
        return cls(coarse(int(count)), coarse_number(int(count)))

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Line:
    """One session."""

    row: Session
    accepted: Quantity
    queued: Quantity
    # Devices that it takes before it is full.
    most: int
    is_stuck: bool
    # Has said anything of late.
    speaks: bool

    @property
    def most_words(self) -> str:
        return f"{self.most:,}"

    @property
    def percent(self) -> int:
        return min(100, 100 * self.accepted.number // self.most) if self.most else 0


@dataclass(frozen=True)
class Worker:
    # Empty for sessions that no worker has taken yet.
    name: str
    alive: bool
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Refused:
    reason: Reason
    count: Quantity

    @property
    def title(self) -> str:
        return self.reason.value.replace("_", " ").capitalize()


@dataclass(frozen=True)
class Overview:
    # Whether Valkey answered: without it, only what the database knows is here.
    reached: bool
    workers: tuple[Worker, ...]
    slots: int
    taken: int
    # Revisions that find no slot, by name.
    waiting: tuple[str, ...]
    arriving: Quantity
    accepting: Quantity
    queued: Quantity
    refused: tuple[Refused, ...]
    levels: tuple[Level, ...]
    lost: tuple[Session, ...]
    lost_count: int
    # Of those, the ones whose worker was stopped while no other one could take them over.
    left_count: int
    checks: tuple[Check, ...]

    @property
    def at_rest_is_none(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def refused_often(self) -> tuple[Refused, ...]:
        """Reasons with a count that may be told, the most frequent first."""
        told = [one for one in self.refused if one.count.number]
        return tuple(sorted(told, key=lambda one: -one.count.number))


def overview(*, now: datetime) -> Overview:
    """How things are: `now` is civil, for partials' time to live."""
    rows = list(_alive())
    reached, found, alive, placed = _asked([row.pk for row in rows])
    spoken = list(found.values())
    lost = _lost()
    return Overview(
        reached=reached,
        workers=_workers(rows, found, alive),
        slots=len(alive) * settings.SESSION_SLOTS,
        taken=sum(row.collects_id is None for row in rows),
        waiting=placed.waiting,
        arriving=Quantity.of(60 * sum(one.status.arriving for one in spoken)),
        accepting=Quantity.of(60 * sum(one.status.accepting for one in spoken)),
        queued=Quantity.of(sum(one.queued for one in spoken)),
        refused=_refused(spoken),
        levels=levels(now=now),
        lost=tuple(lost.order_by("-ended_at").select_related("revision__task")[:_LOST_SHOWN]),
        lost_count=lost.count(),
        left_count=lost.filter(reason=Session.Reason.NO_SUCCESSOR).count(),
        checks=tuple(checks()),
    )


def session_counts() -> dict[str, int]:
    """How many sessions are in each of the states of the living."""
    rows = Session.objects.filter(state__in=Session.ALIVE, collects=None)
    counted = rows.values_list("state").annotate(Count("pk")).order_by()
    return {str(state): dict(counted).get(state, 0) for state in Session.ALIVE}


def _alive() -> Iterable[Session]:
    rows = Session.objects.filter(state__in=Session.ALIVE).order_by("requested_at", "pk")
    return rows.select_related("revision__task", "collects__task")


def _lost() -> QuerySet[Session]:
    since = datetime.now(UTC) - LOST_WITHIN
    return Session.objects.filter(state=Session.State.DEAD, ended_at__gte=since)


def _asked(
    sessions: Sequence[str],
) -> tuple[bool, dict[str, Said], list[str], placing.Findings]:
    try:
        workers = [part for part in heartbeats.parts_alive() if part.startswith("sessions@")]
        return True, said(sessions), workers, placing.findings()
    except (redis.RedisError, OSError):
        return False, {}, [], placing.Findings()


def _workers(
    rows: Sequence[Session], found: dict[str, Said], alive: Sequence[str]
) -> tuple[Worker, ...]:
    names = sorted({*alive, *(row.worker for row in rows)}, key=lambda name: (not name, name))
    return tuple(
        Worker(
            name,
            name in alive,
            tuple(_line(row, found.get(row.pk)) for row in rows if row.worker == name),
        )
        for name in names
    )


def _line(row: Session, one: Said | None) -> Line:
    return Line(
        row=row,
        accepted=Quantity.of(one.status.contributions if one else 0),
        queued=Quantity.of(one.queued if one else 0),
        most=one.status.most if one else 0,
        is_stuck=bool(one and one.is_stuck),
        speaks=one is not None,
    )


def _refused(spoken: Sequence[Said]) -> tuple[Refused, ...]:
    total: Counter[str] = Counter()
    for one in spoken:
        total.update(one.status.counts)
    return tuple(Refused(reason, Quantity.of(total[reason])) for reason in Reason)
