"""Metrics in Prometheus' text format: for programs of operators, as coarse as the pages.

Counts of updates have two significant digits, and 0 stands for everything below 1000: see
`portal.collection.coarse`. Sessions, slots and partials are not devices, and are exact.
"""

from collections.abc import Callable, Iterator

from portal.clock import civil_clock
from portal.collection.fleet import Funnel, fleet
from portal.collection.fleet_counts import Span
from portal.collection.fleet_spans import Choice
from portal.collection.overview import Overview, Quantity, overview, session_counts
from portal.pages.health import Part, parts
from portal.pages.metrics_text import Histogram, Metric, one
from portal.pages.metrics_work import work


def metrics() -> list[Metric | Histogram]:
    found = overview(now=civil_clock().now())
    return [
        *_parts(parts()),
        *_sessions(found),
        *_updates(found),
        *_partials(found),
        *_fleet(),
        *work(),
    ]


def _parts(found: list[Part]) -> Iterator[Metric]:
    samples = tuple(({"part": part.name}, float(part.ok)) for part in found)
    yield Metric("mayfly_part_up", "Whether a part of the system is well: 1 or 0.", samples)


def _sessions(found: Overview) -> Iterator[Metric]:
    states = tuple(({"state": s}, float(n)) for s, n in session_counts().items())
    yield Metric("mayfly_sessions", "Sessions that are alive, by state.", states)
    yield one("mayfly_session_slots", "Places for sessions on living workers.", found.slots)
    yield one("mayfly_session_slots_taken", "Places that sessions have.", found.taken)
    yield one(
        "mayfly_revisions_waiting",
        "Revisions without a session, for want of a slot.",
        len(found.waiting),
    )
    yield one(
        "mayfly_sessions_lost", "Sessions that died within the last 24 hours.", found.lost_count
    )


def _updates(found: Overview) -> Iterator[Metric]:
    yield one(
        "mayfly_updates_arriving_per_minute",
        "Updates that come to the queues in a minute, coarse.",
        found.arriving.number,
    )
    yield one(
        "mayfly_updates_accepted_per_minute",
        "Updates that sessions accept in a minute, coarse.",
        found.accepting.number,
    )
    yield one("mayfly_updates_queued", "Updates that wait in queues, coarse.", found.queued.number)
    refused = tuple(({"reason": r.reason.value}, float(r.count.number)) for r in found.refused)
    yield Metric(
        "mayfly_updates_refused",
        "Updates that the sessions alive did not count, by reason, coarse.",
        refused,
    )
    failed = sum(not check.ok for check in found.checks)
    yield one(
        "mayfly_updates_at_rest_checks_failed",
        "Failed checks for updates on a disk.",
        failed,
    )


def _partials(found: Overview) -> Iterator[Metric]:
    counts = [
        ({"level": str(level.level), "state": state}, float(count))
        for level in found.levels
        for state, count in (("stored", level.stored), ("merged", level.merged))
    ]
    yield Metric("mayfly_partials", "Partials whose key exists, by level and state.", tuple(counts))
    left = [
        ({"level": str(level.level)}, level.left.total_seconds())
        for level in found.levels
        if level.stored
    ]
    yield Metric(
        "mayfly_partial_seconds_left",
        "Civil seconds until the first stored partial of a level expires.",
        tuple(left),
    )


def _fleet() -> Iterator[Metric]:
    """Of the civil day so far."""
    today = civil_clock().now().date()
    found = fleet(Choice.of(Span.DAY, at=today, population="", today=today), today=today)
    for name, sentence, count in _STAGES:
        samples = [({"population": f.choice.population}, count(f)) for f in found.populations]
        yield Metric(f"mayfly_{name}", sentence, tuple((at, float(n.number)) for at, n in samples))


_STAGES: tuple[tuple[str, str, Callable[[Funnel], Quantity]], ...] = (
    ("active_devices", "Installs that have reported, coarse.", lambda funnel: funnel.active),
    ("check_ins_today", "Check-ins of the civil day, coarse.", lambda funnel: funnel.checked_in),
    (
        "assignments_today",
        "Assignments given in the civil day, coarse.",
        lambda funnel: funnel.assigned,
    ),
    (
        "turned_away_today",
        "Assignments not given in the civil day, coarse.",
        lambda funnel: funnel.turned_away,
    ),
    (
        "uploads_today",
        "Uploads taken in the civil day; those of one population are of its own tasks, coarse.",
        lambda funnel: funnel.uploaded,
    ),
)
