"""Is every part of the system alive, and if not, what to do. Nothing here ever raises.

/health is open to everyone, so what it says names no host, address or person.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import redis
from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import connection

from portal import heartbeats
from portal.audit import witness
from portal.audit.models import Verification
from portal.audit.selectors import latest_verification
from portal.pages.moments import in_words
from portal.valkey import broker_client, queue_client

_STARTED = time.monotonic()
_RESTART = "It is restarted by itself; if this stays, its log says why."


@dataclass(frozen=True)
class Part:
    name: str
    ok: bool
    # A sentence: how it is, and if it is not well, what to do.
    detail: str
    # Seconds since the part last gave a sign of life, where it does.
    age_seconds: float | None = None

    @property
    def title(self) -> str:
        return _SHOWN[self.name][0]

    @property
    def icon(self) -> str:
        return _SHOWN[self.name][1]

    @property
    def age(self) -> str:
        """How long ago the last sign of life was, in words."""
        seconds = self.age_seconds or 0
        return f"{in_words(timedelta(seconds=seconds))} ago" if seconds >= 2 else "just now"


# What people read for the name, and the icon beside it.
_SHOWN = {
    "web": ("Web", "globe"),
    "database": ("Database", "database"),
    "valkey": ("Broker and queues", "layers"),
    "sessions": ("Session worker", "server"),
    "jobs": ("Job worker", "settings"),
    "heartbeat": ("Heartbeat", "health"),
    "audit": ("Audit log", "audit"),
}


def parts() -> list[Part]:
    """Every part, the ones that others stand on first."""
    alive, database = _alive(), _database()
    return [
        Part("web", True, f"Answering, up for {in_words(_uptime())}."),
        database,
        _valkey(alive),
        _worker("sessions", "session worker", alive),
        _worker("jobs", "job worker", alive),
        _heartbeat(alive),
        _audit(database),
    ]


def _database() -> Part:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseTrouble:
        remedy = (
            "Check that PostgreSQL runs and that MAYFLY_DATABASE_URL is right."
            if connection.vendor == "postgresql"
            else "Check that the data folder can be written to and the disk is not full."
        )
        return Part("database", False, f"The database does not answer. {remedy}")
    kind = "PostgreSQL" if connection.vendor == "postgresql" else "SQLite"
    return Part("database", True, f"{kind} answers.")


def _valkey(alive: dict[str, float] | None) -> Part:
    try:
        reachable = alive is not None and queue_client().ping() and broker_client().ping()
    except (redis.RedisError, OSError):
        reachable = False
    if reachable:
        return Part("valkey", True, "Broker and queues answer.")
    remedy = (
        _RESTART
        if settings.EMBEDDED_VALKEY
        else "Check that the servers of MAYFLY_BROKER_URL and MAYFLY_QUEUE_URL run."
    )
    return Part("valkey", False, f"Broker or queues do not answer. {remedy}")


def _worker(queue: str, name: str, alive: dict[str, float] | None) -> Part:
    ages = [age for part, age in (alive or {}).items() if part.startswith(f"{queue}@")]
    if ages:
        count = "One worker is" if len(ages) == 1 else f"{len(ages)} workers are"
        return Part(queue, True, f"{count} alive.", round(min(ages), 1))
    if alive is None:
        return Part(queue, False, f"No word from a {name}: the queues do not answer.")
    return Part(queue, False, f"No {name} is alive. {_RESTART}")


def _heartbeat(alive: dict[str, float] | None) -> Part:
    age = (alive or {}).get("heartbeat")
    if age is not None:
        return Part("heartbeat", True, "Beat, broker and job worker pass jobs on.", round(age, 1))
    if alive is None:
        return Part("heartbeat", False, "Jobs cannot be passed on: the broker does not answer.")
    return Part("heartbeat", False, f"No job has come through lately: is beat running? {_RESTART}")


def _audit(database: Part) -> Part:
    away = Part("audit", False, "The audit log cannot be read: the database does not answer.")
    if not database.ok:
        return away  # asking again would only take as long again
    try:
        found, trouble = latest_verification(), witness.trouble()
    except DatabaseTrouble:
        return away
    return Part("audit", False, trouble) if trouble else chain(found)


def chain(found: Verification | None) -> Part:
    """How the chain itself is, whatever the database may have forgotten."""
    age = datetime.now(UTC) - found.at if found and found.at else None
    seconds = round(age.total_seconds(), 1) if age is not None else None
    if found and found.problem:
        keep = "Keep a copy of the database before anything else, and find out who could write it."
        return Part("audit", False, f"The chain is broken. {found.problem} {keep}", seconds)
    # After a start the first verification takes a moment to come: that is not a fault.
    if min(age or timedelta.max, _uptime()) > _allowed_age():
        return Part("audit", False, "The chain has not been verified lately: see jobs.", seconds)
    if age is None:
        return Part("audit", True, "The first verification of the chain is due shortly.")
    return Part("audit", True, "Every entry follows from the one before it.", seconds)


def _alive() -> dict[str, float] | None:
    try:
        return heartbeats.parts_alive()
    except (redis.RedisError, OSError):
        return None


def _uptime() -> timedelta:
    return timedelta(seconds=time.monotonic() - _STARTED)


def _allowed_age() -> timedelta:
    """Four times the interval of `audit.verify_new_entries`, and never less than a minute."""
    return timedelta(seconds=max(60.0, 60 * settings.HEARTBEAT_SECONDS))
