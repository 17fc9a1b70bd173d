"""Metrics of the work behind the pages: requests, jobs, releases that are late, what is refused.

None of them counts devices: they are about requests of people and programs, jobs, windows and
findings, and are exact.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

import redis

from portal import heartbeats, measuring, observing_jobs
from portal.audit.selectors import latest_verification
from portal.clock import civil_clock
from portal.measuring import Labels, Measured
from portal.pages.metrics_text import Histogram, Metric, one
from portal.pages.overview.finding import WEIGHTS
from portal.pages.overview.selectors import look
from portal.releases.models import Attempt
from portal.releases.selectors import due_windows

_QUEUES = ("jobs", "sessions")


def work() -> Iterator[Metric | Histogram]:
    found = _measured()
    yield Histogram(
        "mayfly_request_duration_seconds",
        "How long requests of people and programs take, by the pattern of their address.",
        tuple(found.get("request", {}).items()),
    )
    yield Histogram(
        "mayfly_job_duration_seconds",
        "How long jobs take, by name and outcome; sessions are not among them.",
        tuple(found.get("job", {}).items()),
    )
    yield from _jobs()
    yield from _releases()
    yield _refusals(found)
    yield _audit()
    yield _findings()


def _jobs() -> Iterator[Metric]:
    try:
        waiting = {queue: heartbeats.jobs_waiting(queue) for queue in _QUEUES}
        failing = len(observing_jobs.failing())
    except (redis.RedisError, OSError):
        waiting, failing = {}, 0
    samples = tuple(({"queue": queue}, float(count)) for queue, count in waiting.items())
    yield Metric("mayfly_jobs_waiting", "Jobs that no worker has taken yet, by queue.", samples)
    yield one("mayfly_jobs_failing", "Jobs that failed when they last ran.", failing)


def _releases() -> Iterator[Metric]:
    now = civil_clock().now()
    first = due_windows(now).first()
    late = max(0.0, (now - first.due_at).total_seconds()) if first else 0.0
    yield one(
        "mayfly_release_late_seconds",
        "Civil seconds that the longest-due window has been due; 0 if none is due.",
        late,
    )
    tried = Attempt.objects.filter(times__gt=1).count()
    yield one("mayfly_releases_failing", "Due windows that were tried more than once.", tried)


def _refusals(found: dict[str, dict[Labels, Measured]]) -> Metric:
    rows = found.get("ledger refusal", {})
    return Metric(
        "mayfly_ledger_refusals_total",
        "Reservations that the ledger refused, by stream.",
        tuple((dict(labels), float(row.count)) for labels, row in rows.items()),
        kind="counter",
    )


def _audit() -> Metric:
    chain = latest_verification()
    age = (datetime.now(UTC) - chain.at).total_seconds() if chain and chain.at else -1.0
    return one(
        "mayfly_audit_verified_seconds",
        "Seconds since the audit chain was verified; -1 if it never was.",
        age,
    )


def _findings() -> Metric:
    found = [each.weight for each in look(clock=civil_clock(), numbers=False).findings]
    samples = tuple(({"weight": weight}, float(found.count(weight))) for weight in WEIGHTS)
    return Metric("mayfly_findings", "What the overview finds, by weight.", samples)


def _measured() -> dict[str, dict[Labels, Measured]]:
    try:
        return measuring.measured()
    except (redis.RedisError, OSError):
        return {}
