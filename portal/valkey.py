"""Connections to Valkey (or Redis): one client per process and address."""

import math
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar, cast

import redis
from django.conf import settings
from redis.backoff import ConstantBackoff, NoBackoff
from redis.retry import Retry

T = TypeVar("T")
# How long after a wait in vain a thread does not wait again.
_SHY_SECONDS: Final = 1.0


@cache
def queue_client() -> redis.Redis:
    """The memory-only server: queues, live status, heartbeats, throttles."""
    return client_at(settings.QUEUE_URL)


@cache
def broker_client() -> redis.Redis:
    return client_at(settings.BROKER_URL)


def queue_hash(name: str) -> dict[str, str]:
    """All fields of a hash in the memory-only server. Raises what Valkey raises."""
    found = cast(dict[bytes, bytes], queue_client().hgetall(name))
    return {field.decode(): value.decode() for field, value in found.items()}


def client_at(address: str) -> redis.Redis:
    return redis.Redis.from_url(
        address,
        socket_timeout=5,
        socket_connect_timeout=2,
        retry=_Patience(ConstantBackoff(0.25), 3, supported_errors=(redis.ConnectionError,)),
    )


class _Patience(Retry):
    """One that is started again is there within a second, and is waited for that long. Whatever
    needs it for longer asks again by itself.

    A page may ask twenty times, and waits once: for a second after a thread has waited in vain, it
    does not wait for one that is away, nor ask one that hangs.
    """

    def call_with_retry(
        self, do: Callable[[], T], fail: Callable[..., Any], *rest: Any, **more: Any
    ) -> T:
        if _is_recent("hung"):
            raise redis.TimeoutError("It did not answer a moment ago.")
        call = _ONCE.call_with_retry if _is_recent("away") else super().call_with_retry
        try:
            return call(do, fail, *rest, **more)
        except redis.TimeoutError:
            _in_vain.hung = time.monotonic()
            raise
        except redis.ConnectionError:
            _in_vain.away = time.monotonic()
            raise


def _is_recent(trouble: str) -> bool:
    return time.monotonic() - getattr(_in_vain, trouble, -math.inf) < _SHY_SECONDS


_ONCE = Retry(NoBackoff(), retries=0)
# When this thread last waited for one that was away, and for one that hung.
_in_vain = threading.local()
