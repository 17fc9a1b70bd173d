"""Connections to Valkey (or Redis): one client per process and address."""

from functools import cache

import redis
from django.conf import settings


@cache
def queue_client() -> redis.Redis:
    """The memory-only server: queues, live status, heartbeats, throttles."""
    return _client(settings.QUEUE_URL)


@cache
def broker_client() -> redis.Redis:
    return _client(settings.BROKER_URL)


def _client(address: str) -> redis.Redis:
    return redis.Redis.from_url(address, socket_timeout=5, socket_connect_timeout=2)
