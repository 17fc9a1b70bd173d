"""Since when something is so, where nobody noted it: when it was first found.

Kept in Valkey, so that all front ends say the same; in this process's memory while that is away.
What is not found any more is forgotten, and starts anew if it comes back.
"""

import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import redis

from portal.pages.overview.finding import Finding
from portal.valkey import queue_client, queue_hash

FIRST_SEEN = "mayfly:findings"
_here: dict[str, float] = {}


def dated(found: Iterable[Finding]) -> list[Finding]:
    findings = list(found)
    first = _first_seen([one.key for one in findings])
    return [
        one if one.since else replace(one, since=datetime.fromtimestamp(first[one.key], UTC))
        for one in findings
    ]


def _first_seen(keys: list[str]) -> dict[str, float]:
    now = time.time()
    try:
        client = queue_client()
        kept = {key: float(at) for key, at in queue_hash(FIRST_SEEN).items()}
        pipe = client.pipeline(transaction=True)
        for key in keys:
            pipe.hsetnx(FIRST_SEEN, key, repr(_here.get(key, now)))
        if gone := kept.keys() - set(keys):
            pipe.hdel(FIRST_SEEN, *gone)
        pipe.execute()
    except (redis.RedisError, OSError):
        kept = {}
    first = {key: kept.get(key, _here.get(key, now)) for key in keys}
    _here.clear()
    _here.update(first)
    return first
