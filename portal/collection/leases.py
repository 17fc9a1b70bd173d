"""Leases: one worker at a time does a piece of heavy work. They save work, and decide nothing.

Whoever commits first wins by the database's own means. A lease only keeps the next beat from
beginning the same work while it is under way; it lapses by itself if its holder dies.
"""

import contextlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from portal.valkey import queue_client


@contextmanager
def lease(work: str, *, seconds: float) -> Iterator[bool]:
    """Whether the work is ours. Without Valkey it is: then two may do it, and one wins."""
    name, token = f"mayfly:lease:{work}", secrets.token_bytes(8)
    try:
        ours = bool(queue_client().set(name, token, nx=True, px=int(1000 * seconds)))
    except redis.RedisError:
        ours = True
    try:
        yield ours
    finally:
        if ours:
            with contextlib.suppress(redis.RedisError):
                _give_back(name, token)


def _give_back(name: str, token: bytes) -> None:
    if queue_client().get(name) == token:
        queue_client().delete(name)
