"""Updates at rest: none. What a running system can be asked about that, asked of it.

An update is in two places on its way: in the queue's memory, sealed, and in the memory of its
session. Both are asked here whether they keep to it. What cannot be asked of a running system is
tested: with every run of the tests a marked update goes from a phone to a partial, and is looked
for in every file, table, log and dump.
"""

from dataclasses import dataclass

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection

from portal.collection import exact
from portal.valkey import queue_client

# Every column that could hold bytes, and what it holds instead of updates.
BINARY_COLUMNS = {
    ("collection_handover", "ids"): "random ids of updates that are in memory, without contents",
    ("collection_partial", "body"): "encrypted sums of many devices",
    ("collection_receipts", "ids"): "random ids of counted updates, without contents",
    ("releases_release", "noised"): "sums with noise",
}
# Made by a simulation in its own database; anywhere else nobody has said what it holds.
IN_SIMULATIONS = {(exact.COPIES, "ids"): "copies of both for this simulation, of made-up phones"}


@dataclass(frozen=True)
class Check:
    title: str
    ok: bool
    # What was asked, where, and what the answer was.
    detail: str


def checks() -> list[Check]:
    """Asked anew each time; nothing here ever raises."""
    return [_queues_in_memory(), _no_replica(), _no_place_in_the_database()]


def _queues_in_memory() -> Check:
    title = "Queues are in memory only"
    try:
        client = queue_client()
        saves = _setting(client.config_get("save"))
        appends = _setting(client.config_get("appendonly"))
    except (redis.RedisError, OSError):
        return Check(title, False, "The server of the queues does not say how it is set up.")
    if saves or appends != "no":
        remedy = 'Set `save ""` and `appendonly no`, and delete the files it has written.'
        return Check(title, False, f"The server of the queues writes to its disk. {remedy}")
    return Check(title, True, "Valkey is asked: it saves no snapshots and keeps no log of writes.")


def _no_replica() -> Check:
    title = "Nobody copies the queues"
    try:
        found = int(queue_client().info("replication").get("connected_slaves", 0))
    except (redis.RedisError, OSError, ValueError):
        return Check(title, False, "The server of the queues does not say who follows it.")
    if found:
        return Check(title, False, f"{found} replicas follow the queues. Take them away.")
    return Check(title, True, "Valkey is asked: it has no replicas.")


def _no_place_in_the_database() -> Check:
    title = "No table has a place for updates"
    known = BINARY_COLUMNS | (IN_SIMULATIONS if settings.CLOCK == "simulated" else {})
    try:
        found = binary_columns()
    except DatabaseError:
        return Check(title, False, "The database does not answer.")
    if unknown := sorted(set(found) - known.keys()):
        names = ", ".join(f"{table}.{column}" for table, column in unknown)
        return Check(title, False, f"Nobody has said what these columns hold: {names}.")
    held = "; ".join(sorted(known[column] for column in found))
    return Check(title, True, f"The database is asked for columns of bytes. They hold: {held}.")


def binary_columns() -> list[tuple[str, str]]:
    """Each (table, column) of the database whose type is bytes, or none at all."""
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS[connection.vendor])
        return [(table, column) for table, column in cursor.fetchall()]


_COLUMNS = {
    "sqlite": (
        "SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c "
        "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite~_%' ESCAPE '~' "
        "AND (upper(c.type) LIKE '%BLOB%' OR c.type = '')"
    ),
    "postgresql": (
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = current_schema() AND data_type = 'bytea'"
    ),
}


def _setting(found: dict[str | None, str | None]) -> str:
    value = next(iter(found.values()), None)
    return "unknown" if value is None else value
