"""What of a session is alive: short-lived keys in the memory-only Valkey, in machine time.

A session's queue is a list that begins with a sentinel, so that it exists while it is empty:
front ends append only to a queue that exists, and learn in the same step that a session is over.
Nothing here is ever on a disk, and everything has a time to live or is deleted by its session.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, cast

import redis
from django.conf import settings

from aggregation.protocol.ids import UPDATE_BYTES
from portal.valkey import queue_client

SENTINEL = b""
SNAPSHOT = "mayfly:snapshot"
# A session asks its queue many times a second; one that nobody asks for a day has none any more.
QUEUE_LASTS = 86_400
# A missing sign of life is looked for again after this part of the lapse: a Valkey that came back
# empty has forgotten it, and the session says it anew within a second.
SECOND_LOOK = 0.3
# Beats that may be missed before what was said at the last one is forgotten, and machine seconds
# at least.
_BEATS, _LEAST_SECONDS = 4, 30.0


def key(session: str, what: str) -> str:
    return f"mayfly:session:{session}:{what}"


def lasting_ms() -> int:
    """For how long holds what is said anew at every beat."""
    return int(1000 * max(_LEAST_SECONDS, _BEATS * settings.HEARTBEAT_SECONDS))


def claim(session: str, owner: str) -> bool:
    """Whether this owner is the first to run the session. A message delivered twice runs once."""
    return bool(queue_client().set(key(session, "owner"), owner, nx=True, ex=7 * 86_400))


def open_queue(session: str) -> None:
    pipe = queue_client().pipeline(transaction=True)
    pipe.rpush(key(session, "updates"), SENTINEL)
    pipe.expire(key(session, "updates"), QUEUE_LASTS)
    pipe.execute()


def pop(session: str, count: int) -> list[tuple[str, bytes]] | None:
    """Up to so many updates, as (id, sealed bytes). Nothing at all if the queue was not there.

    In that case it is there again, empty: the caller looks whether it is still wanted.
    """
    name = key(session, "updates")
    pipe = queue_client().pipeline(transaction=True)
    pipe.lpop(name, count + 1)
    pipe.lpush(name, SENTINEL)
    pipe.expire(name, QUEUE_LASTS)
    try:
        popped, *_ = pipe.execute()
    except redis.OutOfMemoryError:
        popped = _popped_of_full(name, count)
    return None if popped is None else list(_updates(popped))


def close_queue(session: str) -> None:
    """Take it from the front ends: from now on there is no such queue, and its session is over."""
    client = queue_client()
    if client.exists(key(session, "updates")):
        client.rename(key(session, "updates"), key(session, "closing"))


def pop_closing(session: str, count: int) -> list[tuple[str, bytes]]:
    """What was accepted before the queue closed; nothing once it is empty."""
    return list(_updates(_popped(key(session, "closing"), count)))


def is_closing_empty(session: str) -> bool:
    return not queue_client().exists(key(session, "closing"))


def queue_length(session: str) -> int:
    """Waiting updates, the sentinel not counted."""
    return max(0, int(queue_client().llen(key(session, "updates"))) - 1)


def beat(session: str, status: dict[str, Any] | None = None) -> None:
    lasts_ms = int(1000 * settings.SESSION_LAPSE_SECONDS)
    pipe = queue_client().pipeline(transaction=False)
    pipe.set(key(session, "alive"), b"1", px=lasts_ms)
    if status is not None:
        pipe.set(key(session, "status"), json.dumps(status), px=lasts_ms)
    pipe.execute()


def alive(sessions: Sequence[str]) -> set[str]:
    if not sessions:
        return set()
    found = queue_client().mget([key(one, "alive") for one in sessions])
    return {one for one, value in zip(sessions, found, strict=True) if value is not None}


def is_lapsed(session: str, now: float) -> bool:
    """Whether its sign of life, which was just looked for in vain, is missing for a while, and not
    only since a moment ago."""
    client, name = queue_client(), key(session, "missing")
    client.set(name, repr(now), nx=True, px=int(10_000 * settings.SESSION_LAPSE_SECONDS))
    missed_for = now - float(client.get(name) or now)
    return missed_for >= SECOND_LOOK * settings.SESSION_LAPSE_SECONDS


def is_back(sessions: Iterable[str]) -> None:
    if names := [key(one, "missing") for one in sessions]:
        queue_client().delete(*names)


def push_state(successor: str, document: bytes) -> None:
    """Give a sealed state to a successor's memory; gone by itself if nobody takes it."""
    name = key(successor, "handovers")
    pipe = queue_client().pipeline(transaction=True)
    pipe.rpush(name, document)
    pipe.pexpire(name, int(4000 * settings.SESSION_LAPSE_SECONDS))
    pipe.execute()


def pop_state(session: str) -> bytes | None:
    found = _popped(key(session, "handovers"), 1)
    return found[0] if found else None


def forget(session: str) -> None:
    """Delete everything of a session that is over."""
    kinds = ("updates", "closing", "handovers", "alive", "status", "missing")
    queue_client().delete(*(key(session, kind) for kind in kinds))


def _popped_of_full(name: str, count: int) -> list[bytes]:
    """A server that has reached its limit of memory gives, and takes nothing until it has given:
    all but the last, so that there is a queue."""
    waiting = int(queue_client().llen(name)) - 1
    return _popped(name, min(count, waiting)) if waiting > 0 else []


def _popped(name: str, count: int) -> list[bytes]:
    return cast(list[bytes], queue_client().lpop(name, count) or [])


def _updates(items: Iterable[bytes]) -> Iterable[tuple[str, bytes]]:
    for item in items:
        if item != SENTINEL:
            yield item[:UPDATE_BYTES].hex(), item[UPDATE_BYTES:]
