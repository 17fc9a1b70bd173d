"""Metrics in Prometheus' text format: for programs of operators, as coarse as the pages.

Counts of updates have two significant digits, and 0 stands for everything below 1000: see
`portal.collection.coarse`. Sessions, slots and partials are not devices, and are exact.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from portal.clock import civil_clock
from portal.collection.fleet import Funnel, fleet
from portal.collection.fleet_counts import Span
from portal.collection.fleet_spans import Choice
from portal.collection.overview import Overview, Quantity, overview, session_counts
from portal.pages.health import Part, parts

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Metric:
    name: str
    # What it says, in a sentence.
    help: str
    # Labels as they are written, and the value.
    samples: tuple[tuple[dict[str, str], float], ...]


def metrics() -> list[Metric]:
    found = overview(now=civil_clock().now())
    return [*_parts(parts()), *_sessions(found), *_updates(found), *_partials(found), *_fleet()]


def as_text(found: Iterable[Metric]) -> str:
    return "".join(line + "\n" for metric in found for line in _lines(metric))


def _parts(found: list[Part]) -> Iterator[Metric]:
    samples = tuple(({"part": part.name}, float(part.ok)) for part in found)
    yield Metric("mayfly_part_up", "Whether a part of the system is well: 1 or 0.", samples)


def _sessions(found: Overview) -> Iterator[Metric]:
    states = tuple(({"state": s}, float(n)) for s, n in session_counts().items())
    yield Metric("mayfly_sessions", "Sessions that are alive, by state.", states)
    yield _one("mayfly_session_slots", "Places for sessions on living workers.", found.slots)
    yield _one("mayfly_session_slots_taken", "Places that sessions have.", found.taken)
    yield _one(
        "mayfly_revisions_waiting",
        "Revisions without a session, for want of a slot.",
        len(found.waiting),
    )
    yield _one(
        "mayfly_sessions_lost", "Sessions that died within the last 24 hours.", found.lost_count
    )


def _updates(found: Overview) -> Iterator[Metric]:
    yield _one(
        "mayfly_updates_arriving_per_minute",
        "Updates that come to the queues in a minute, coarse.",
        found.arriving.number,
    )
    yield _one(
        "mayfly_updates_accepted_per_minute",
        "Updates that sessions accept in a minute, coarse.",
        found.accepting.number,
    )
    yield _one("mayfly_updates_queued", "Updates that wait in queues, coarse.", found.queued.number)
    refused = tuple(({"reason": r.reason.value}, float(r.count.number)) for r in found.refused)
    yield Metric(
        "mayfly_updates_refused",
        "Updates that the sessions alive did not count, by reason, coarse.",
        refused,
    )
    failed = sum(not check.ok for check in found.checks)
    yield _one(
        "mayfly_updates_at_rest_checks_failed",
        "Checks that no update is on a disk which did not pass.",
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
        samples = [({"population": one.choice.population}, count(one)) for one in found.populations]
        yield Metric(f"mayfly_{name}", sentence, tuple((at, float(n.number)) for at, n in samples))


_STAGES: tuple[tuple[str, str, Callable[[Funnel], Quantity]], ...] = (
    ("active_devices", "Installs that have reported, coarse.", lambda one: one.active),
    ("check_ins_today", "Check-ins of the civil day, coarse.", lambda one: one.checked_in),
    ("assignments_today", "Assignments given in the civil day, coarse.", lambda one: one.assigned),
    (
        "turned_away_today",
        "Assignments not given in the civil day, coarse.",
        lambda one: one.turned_away,
    ),
    (
        "uploads_today",
        "Uploads taken in the civil day; those of one population are of its own tasks, coarse.",
        lambda one: one.uploaded,
    ),
)


def _one(name: str, sentence: str, value: float) -> Metric:
    return Metric(name, sentence, (({}, float(value)),))


def _lines(metric: Metric) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} gauge"
    for labels, value in metric.samples:
        written = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield (
            f"{metric.name}{{{written}}} {_number(value)}"
            if labels
            else f"{metric.name} {_number(value)}"
        )


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    """Whole numbers whole: 1200000, not 1.2e+06."""
    return str(int(value)) if value == int(value) else repr(round(value, 3))
