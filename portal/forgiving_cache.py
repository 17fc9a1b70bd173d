"""Django's cache on Valkey that behaves as an empty one while Valkey is away."""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any

import redis
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.backoff import NoBackoff
from redis.retry import Retry

log = logging.getLogger(__name__)

# After a failure nobody asks for so long, instead of making each page wait for a time-out.
PAUSE_SECONDS = 2.0


class JsonSerializer:
    """Cached values are plain JSON: reading a cache never runs code, as unpickling would."""

    def dumps(self, value: Any) -> Any:
        return value if type(value) is int else json.dumps(value)

    def loads(self, data: bytes) -> Any:
        return json.loads(data)


@dataclass
class Server:
    """One address, shared by all threads and requests: its connections, and whether it answers."""

    client: RedisCacheClient
    away_until: float = 0.0
    away: bool = False

    def note_absence(self, error: redis.RedisError) -> None:
        self.away_until = time.monotonic() + PAUSE_SECONDS
        if not self.away:
            why = type(error).__name__
            log.warning("Valkey is away (%s): the cache is empty until it is back.", why)
        self.away = True

    def note_presence(self) -> None:
        if self.away:
            log.warning("Valkey is back: the cache works again.")
        self.away = False


@cache
def server_at(*addresses: str) -> Server:
    """Django makes a cache object for each request; the connections must outlive it."""
    return Server(
        RedisCacheClient(
            list(addresses),
            serializer=JsonSerializer,  # type: ignore[arg-type]
            socket_timeout=1,
            socket_connect_timeout=0.5,
            retry=Retry(NoBackoff(), 0),
        )
    )


def _forgiving(method: str, absent: Callable[..., Any]) -> Callable[..., Any]:
    """The method of RedisCache; what `absent` gives while Valkey does not answer."""
    original = getattr(RedisCache, method)

    @wraps(original)
    def forgiving(self: "ForgivingCache", *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() < self.server.away_until:
            return absent(*args, **kwargs)
        try:
            answer = original(self, *args, **kwargs)
        except redis.RedisError as error:
            self.server.note_absence(error)
            return absent(*args, **kwargs)
        self.server.note_presence()
        return answer

    return forgiving


def _nothing_to_count(key: str, *args: Any, **kwargs: Any) -> int:
    raise ValueError(f"Key {key!r} not found.")


class ForgivingCache(RedisCache):
    """Django's Redis cache; while the server is away it behaves as an empty one and logs it once.

    Values are plain JSON.
    """

    @property
    def server(self) -> Server:
        return server_at(*self._servers)  # type: ignore[attr-defined]

    @property
    def _cache(self) -> RedisCacheClient:
        return self.server.client

    add = _forgiving("add", lambda *a, **k: True)
    get = _forgiving("get", lambda key, default=None, *a, **k: default)
    set = _forgiving("set", lambda *a, **k: None)
    touch = _forgiving("touch", lambda *a, **k: False)
    delete = _forgiving("delete", lambda *a, **k: False)
    get_many = _forgiving("get_many", lambda *a, **k: {})
    set_many = _forgiving("set_many", lambda *a, **k: [])
    delete_many = _forgiving("delete_many", lambda *a, **k: None)
    has_key = _forgiving("has_key", lambda *a, **k: False)
    incr = _forgiving("incr", _nothing_to_count)

    def clear(self) -> None:
        """Forget what is cached, and only that: the server also holds the sessions' queues."""
        try:
            client = self._cache.get_client(write=True)
            for key in client.scan_iter(match=f"{self.key_prefix}:*", count=1000):
                client.delete(key)
        except redis.RedisError as error:
            self.server.note_absence(error)
