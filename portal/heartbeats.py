"""Who is alive: short-lived keys in Valkey, in machine time. A lapsed key is a dead part."""

import contextlib
import threading
import time

import redis
from django.conf import settings

from portal.valkey import queue_client

_PREFIX = "mayfly:alive:"
_stop = threading.Event()


def beat(part: str) -> None:
    """Say that a part is alive; the word holds for a few beats."""
    lasts_ms = int(1000 * max(5.0, 4 * settings.HEARTBEAT_SECONDS))
    queue_client().set(_PREFIX + part, repr(time.time()), px=lasts_ms)


def parts_alive() -> dict[str, float]:
    """Each living part and the seconds since its last beat. Raises what Valkey raises."""
    client = queue_client()
    keys = sorted(client.scan_iter(match=_PREFIX + "*", count=500))
    values = client.mget(keys) if keys else []
    now = time.time()
    return {
        key.decode().removeprefix(_PREFIX): max(0.0, now - float(value))
        for key, value in zip(keys, values, strict=True)
        if value is not None
    }


def start_worker_heartbeat(worker: str) -> None:
    """Beat from a thread of its own, so that busy slots do not look like a dead worker."""
    thread = threading.Thread(target=_beat_until_stopped, args=(worker,), daemon=True)
    thread.start()


def stop_worker_heartbeat() -> None:
    _stop.set()


def _beat_until_stopped(worker: str) -> None:
    while not _stop.is_set():
        with contextlib.suppress(redis.RedisError):
            beat(worker)
        _stop.wait(settings.HEARTBEAT_SECONDS)
