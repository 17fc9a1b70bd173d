"""Connections to Valkey (or Redis): one client per process and address."""

from functools import cache
from typing import cast

import redis
from django.conf import settings
from redis.backoff import ConstantBackoff
from redis.retry import Retry


@cache
def queue_client() -> redis.Redis:
    """The memory-only server: queues, live status, heartbeats, throttles."""
    return _client(settings.QUEUE_URL)


@cache
def broker_client() -> redis.Redis:
    return _client(settings.BROKER_URL)


def queue_hash(name: str) -> dict[str, str]:
    """All fields of a hash in the memory-only server. Raises what Valkey raises."""
    found = cast(dict[bytes, bytes], queue_client().hgetall(name))
    return {field.decode(): value.decode() for field, value in found.items()}


def _client(address: str) -> redis.Redis:
    """One that is started again is there within a second; pages do not wait longer for one that is
    away, and whatever waits for it asks again by itself. One that hangs is not asked again."""
    retry = Retry(ConstantBackoff(0.25), retries=3, supported_errors=(redis.ConnectionError,))
    return redis.Redis.from_url(address, socket_timeout=5, socket_connect_timeout=2, retry=retry)
