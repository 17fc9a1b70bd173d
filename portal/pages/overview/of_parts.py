"""Processes and what they stand on: gone, silent, failing, or older than their database."""

from datetime import UTC, datetime, timedelta

import redis
from django.urls import reverse

from portal import heartbeats, observing_jobs
from portal.pages.overview.finding import Finding, Findings, Seen, Source
from portal.pages.readiness import unapplied_migrations

# A worker that is restarted is back within this.
_PATIENCE = timedelta(seconds=30)
# Jobs that wait for a worker; a beat brings about ten.
_MANY_JOBS = 200


def unwell_parts(seen: Seen) -> Findings:
    """The audit log has a finding of its own."""
    for part in seen.parts:
        if part.ok or part.name == "audit":
            continue
        yield Finding(
            kind="part-unwell",
            subject=part.name,
            weight="bad",
            title=f"{part.title} is not well",
            meaning=_MEANING[part.name],
            remedy=part.detail,
            link=reverse("health"),
            link_words="Health of the parts",
            since=_last_sign(part.name),
        )


_MEANING = {
    "web": "People and devices get no answer.",
    "database": "No page works but this and health. Uploads are still taken into the queues.",
    "valkey": "Devices are told to come back, and no job runs. What waited in the queues is lost; "
    "devices send it again. Sessions keep what they hold.",
    "sessions": "No session is open: devices are told to come back, and nothing is collected.",
    "jobs": "No window is opened, merged or released, and nobody is told of anything.",
    "heartbeat": "No job comes through: no window is opened, merged or released.",
}


def silent_workers(seen: Seen) -> Findings:
    """Workers that did not say good-bye, while others of their kind go on."""
    for worker, last in _silent(seen.now):
        kind = "session" if worker.startswith("sessions@") else "job"
        yield Finding(
            kind="worker-gone",
            subject=worker,
            weight="warning",
            title=f"The {kind} worker {worker} is gone",
            meaning="It gives no sign of life and never said that it was stopping. Others do its "
            "work as far as they have room; devices send again what its sessions held.",
            remedy="Look at its machine and its log, and start it again. If it is not to come "
            "back, this line goes by itself after a day.",
            link=reverse("sessions"),
            link_words="Sessions and workers",
            since=last,
        )


def failing_jobs(seen: Seen) -> Findings:
    try:
        found = observing_jobs.failing()
    except (redis.RedisError, OSError):
        return  # that Valkey is away is a finding already
    for job in found:
        yield Finding(
            kind="job-failing",
            subject=job.name,
            weight="warning",
            title=f"The job {job.name} fails",
            meaning=f"It has failed {job.times:,} times since it last succeeded. It runs again at "
            "its next beat.",
            remedy="The log of the job workers has the reason, beside the id of the job.",
            command=f"grep {job.job} mayfly.log",
            since=datetime.fromtimestamp(job.since, UTC),
        )


def jobs_piled_up(seen: Seen) -> Findings:
    try:
        waiting = heartbeats.jobs_waiting("jobs")
    except (redis.RedisError, OSError):
        return
    if waiting >= _MANY_JOBS:
        yield Finding(
            kind="jobs-piled-up",
            weight="warning",
            title=f"{waiting:,} jobs wait for a worker",
            meaning="Job workers are too few or too slow; windows and messages come late.",
            remedy="Start another job worker, or look why the running ones take so long.",
            command="python manage.py process jobs --instance further",
        )


def missing_migrations(seen: Seen) -> Findings:
    names = unapplied_migrations()
    if names:
        yield Finding(
            kind="migrations-missing",
            weight="bad",
            title="The database is older than this program",
            meaning=f"Not applied: {', '.join(names[:3])}{' …' if len(names) > 3 else ''}. Pages "
            "and jobs that need them fail.",
            remedy="Prepare the database once, from any machine; it is harmless twice.",
            command="python manage.py prepare",
        )


def _last_sign(name: str) -> datetime | None:
    prefix = {"sessions": "sessions@", "jobs": "jobs@", "heartbeat": "heartbeat"}.get(name)
    if prefix is None:
        return None
    try:
        times = [at for part, at in heartbeats.last_seen().items() if part.startswith(prefix)]
    except (redis.RedisError, OSError):
        return None
    return datetime.fromtimestamp(max(times), UTC) if times else None


def _silent(now: datetime) -> list[tuple[str, datetime]]:
    try:
        alive, last = heartbeats.parts_alive(), heartbeats.last_seen()
    except (redis.RedisError, OSError):
        return []
    kinds = {part.partition("@")[0] for part in alive}
    found = [
        (part, datetime.fromtimestamp(at, UTC))
        for part, at in last.items()
        # Where none of a kind is left, the part as a whole is not well.
        if "@" in part and part not in alive and part.partition("@")[0] in kinds
    ]
    return sorted((part, at) for part, at in found if now - at > _PATIENCE)


SOURCES: list[Source] = [
    unwell_parts,
    missing_migrations,
    silent_workers,
    failing_jobs,
    jobs_piled_up,
]
