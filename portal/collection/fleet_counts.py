"""Counting what devices do: in the memory of front ends, added up in Valkey, kept by day and week.

A front end counts in its memory and writes once a second into one hash in Valkey, where several
front ends add up; a job moves it into the database, as it does with active devices. A crash on the
way loses seconds of counts, and nothing is ever decided by them. Nothing here knows a device: a
device that checks in twice is two check-ins.

Every count is kept twice, for its civil day and for its civil week. Days go after four weeks,
weeks after a year, so the table stays small however many devices there are.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from enum import StrEnum

import redis
from django.db import connection, transaction

from aggregation.clock import Clock
from aggregation.protocol.refusal import Reason
from portal.collection.models import FleetCount
from portal.valkey import queue_client

HASH = "mayfly:fleet"
DAYS_KEPT, WEEKS_KEPT = 28, 53

Span = FleetCount.Span


class Stage(StrEnum):
    """Stages of the funnel, by population."""

    ACTIVE = "active"
    CHECKED_IN = "checked_in"
    ASSIGNED = "assigned"
    UPLOADED = "uploaded"


class TurnedAway(StrEnum):
    """Why an assignment was not given."""

    NOT_OPEN = "turned_away.not_open"
    NO_SESSION = "turned_away.no_session"


# Of all calls together, both with headers.
BYTES_UP, BYTES_DOWN = "bytes.up", "bytes.down"
OK = "ok"
# A call that the protocol does not have.
UNKNOWN = "unknown"


def call(name: str, outcome: str) -> str:
    """Calls of one kind by how they were answered: `ok`, or the code of the error."""
    return f"call.{name}.{outcome}"


def measure(what: str, name: str, bucket: int) -> str:
    """Calls of one kind by their size (`up`, `down`) or time (`ms`): see `fleet_buckets`."""
    return f"{what}.{name}.{bucket}"


def refused(reason: Reason) -> str:
    """Updates that a session did not count."""
    return f"refused.{reason}"


def field(day: date, counter: str, population: str) -> str:
    """Where the hash in Valkey counts it."""
    return f"{day.isoformat()}|{counter}|{population}"


def note_refused(counts: Mapping[Reason, int], *, clock: Clock) -> None:
    """What a session that ends has refused. Without Valkey it is forgotten."""
    day = clock.now().date()
    with contextlib.suppress(redis.RedisError):
        pipe = queue_client().pipeline(transaction=False)
        for reason, count in counts.items():
            pipe.hincrby(HASH, field(day, refused(reason), ""), count)
        pipe.execute()


def keep_counts(*, clock: Clock) -> None:
    """Forget what is old, and move what was counted into the database.

    In this order: while the database is away, what was counted stays where it is.
    """
    today = clock.now().date()
    for span, kept in ((Span.DAY, DAYS_KEPT), (Span.WEEK, 7 * WEEKS_KEPT)):
        FleetCount.objects.filter(span=span, start__lte=today - timedelta(days=kept)).delete()
    pipe = queue_client().pipeline(transaction=True)
    pipe.hgetall(HASH)
    pipe.delete(HASH)
    found, _ = pipe.execute()
    if found:
        add(_read(found))


@transaction.atomic
def add(counts: Iterable[tuple[date, str, str, int]]) -> None:
    """Add (day, counter, population, count) to what is there already."""
    rows = [
        (span, start, population, counter, count)
        for day, counter, population, count in counts
        for span, start in ((Span.DAY, day), (Span.WEEK, monday(day)))
    ]
    with connection.cursor() as cursor:
        # In one order, so that two who add at once do not wait for each other for ever.
        cursor.executemany(_ADD, sorted(rows))


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


_ADD = """
INSERT INTO collection_fleetcount (span, start, population, counter, count)
VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (span, start, population, counter)
DO UPDATE SET count = collection_fleetcount.count + excluded.count
"""


def _read(found: Mapping[bytes, bytes]) -> Iterator[tuple[date, str, str, int]]:
    for name, count in found.items():
        day, counter, population = name.decode().split("|", 2)
        yield date.fromisoformat(day), counter, population, int(count)
