"""Everything that is found, the worst first; and the few numbers that say why nothing is."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import redis
from django.conf import settings
from django.db import Error as DatabaseTrouble

from aggregation.clock import Clock
from aggregation.errors import Problem
from portal.audit.selectors import latest_verification
from portal.notifications.models import Delivery
from portal.pages.moments import relative
from portal.pages.overview import of_keeping, of_parts, of_work
from portal.pages.overview.finding import WEIGHTS, Finding, Seen, Source
from portal.pages.overview.of_keeping import free_share
from portal.pages.overview.of_work import newest_release
from portal.pages.overview.since import dated

log = logging.getLogger(__name__)

SOURCES: list[Source] = [*of_parts.SOURCES, *of_work.SOURCES, *of_keeping.SOURCES]


@dataclass(frozen=True)
class Number:
    label: str
    value: str
    detail: str


@dataclass(frozen=True)
class Looked:
    findings: tuple[Finding, ...]
    numbers: tuple[Number, ...]
    # How many questions were asked.
    questions: int

    @property
    def worst(self) -> str:
        """The weight of the first finding; good where there is none that asks for anything."""
        return self.findings[0].weight if self.findings else "good"

    @property
    def to_do(self) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if one.weight != "info")


def look(*, clock: Clock, numbers: bool = True) -> Looked:
    seen = Seen(datetime.now(UTC), clock)
    found = [one for source in SOURCES for one in _asked(source, seen)]
    found.sort(key=lambda one: WEIGHTS.index(one.weight))
    return Looked(
        findings=tuple(dated(found)),
        numbers=_numbers(seen) if numbers else (),
        questions=len(SOURCES),
    )


def _asked(source: Source, seen: Seen) -> Sequence[Finding]:
    """A part that does not answer is a finding already; it must not hide the others."""
    try:
        return list(source(seen))
    except (DatabaseTrouble, redis.RedisError, OSError, Problem) as error:
        log.info("Nobody can tell about %s: %s.", source.__name__, type(error).__name__)
        return []


def _numbers(seen: Seen) -> tuple[Number, ...]:
    try:
        return tuple(_asked_numbers(seen))
    except (DatabaseTrouble, redis.RedisError, OSError):
        return ()


def _asked_numbers(seen: Seen) -> list[Number]:
    well = sum(part.ok for part in seen.parts)
    sessions, release, chain = seen.sessions, newest_release(), latest_verification()
    free = free_share(settings.DATA)
    waiting = Delivery.objects.filter(state=Delivery.State.QUEUED).count()
    return [
        Number("Parts that are well", f"{well} of {len(seen.parts)}", "processes and stores"),
        Number(
            "Newest release",
            release.window.as_window().label if release else "none yet",
            release.window.task.name if release else "the first comes with the first window",
        ),
        Number(
            "Places for sessions",
            f"{sessions.taken} of {sessions.slots}",
            f"taken; {sessions.queued} updates wait in queues",
        ),
        Number(
            "Audit log verified",
            relative(chain.at, now=seen.now) if chain and chain.at else "not yet",
            f"{chain.seq:,} entries, chained" if chain else "due shortly",
        ),
        Number(
            "Free on the data disk",
            f"{100 * free:.0f} %" if free is not None else "unknown",
            "for releases and their files",
        ),
        Number("Messages on their way", f"{waiting:,}", "e-mails and calls of the webhook"),
    ]
