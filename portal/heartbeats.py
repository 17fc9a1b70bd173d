"""Who is alive: short-lived keys in Valkey, in machine time. A lapsed key is a dead part.

Beside them stands when each part was last heard, for as long as it has not said good-bye: who
went without a word can be told from who was stopped.
"""

import contextlib
import json
import threading
import time
from dataclasses import dataclass

import redis
from django.conf import settings

from portal.valkey import broker_client, queue_client, queue_hash

_PREFIX = "mayfly:alive:"
_LAST = "mayfly:last-seen"
_JUMP = "mayfly:clock-jump"
_DAY_SECONDS = 86_400
# More than NTP ever moves a clock that it keeps.
JUMP_SECONDS = 30.0
_stop = threading.Event()
_this_worker = ""


@dataclass(frozen=True)
class Jump:
    """A clock was set, or a machine slept: by so much, and when (machine time, after it)."""

    seconds: float
    at: float


def beat(part: str) -> None:
    """Say that a part is alive; the word holds for a few beats."""
    lasts_ms = int(1000 * max(5.0, 4 * settings.HEARTBEAT_SECONDS))
    now = repr(time.time())
    pipe = queue_client().pipeline(transaction=False)
    pipe.set(_PREFIX + part, now, px=lasts_ms)
    pipe.hset(_LAST, part, now)
    pipe.execute()


def parts_alive() -> dict[str, float]:
    """Each living part and the seconds since its last beat. Raises what Valkey raises."""
    now = time.time()
    return {part: max(0.0, now - at) for part, at in latest_beats().items()}


def latest_beats() -> dict[str, float]:
    """Each living part, and when its last beat was by its own clock. Raises what Valkey raises."""
    client = queue_client()
    keys = sorted(client.scan_iter(match=_PREFIX + "*", count=500))
    values = client.mget(keys) if keys else []
    return {
        key.decode().removeprefix(_PREFIX): float(value)
        for key, value in zip(keys, values, strict=True)
        if value is not None
    }


def last_seen() -> dict[str, float]:
    """When each part was last heard that did not say good-bye; a day later it is forgotten."""
    found = {part: float(at) for part, at in queue_hash(_LAST).items()}
    old = [part for part, at in found.items() if at < time.time() - _DAY_SECONDS]
    if old:
        queue_client().hdel(_LAST, *old)
    return {part: at for part, at in found.items() if part not in old}


def jobs_waiting(queue: str) -> int:
    """Jobs in one of Celery's queues that no worker has taken yet."""
    return int(broker_client().llen(queue))


def latest_jump() -> Jump | None:
    """The last time that a worker's clock jumped, within a day."""
    raw = queue_client().get(_JUMP)
    return Jump(**json.loads(raw)) if raw else None


def start_worker_heartbeat(worker: str) -> None:
    """Beat from a thread of its own, so that busy slots do not look like a dead worker."""
    global _this_worker  # noqa: PLW0603 - one for the process
    _this_worker = worker
    thread = threading.Thread(target=_beat_until_stopped, args=(worker,), daemon=True)
    thread.start()


def this_worker() -> str:
    """The name that this process beats by; none, if it is no worker."""
    return _this_worker


def stop_worker_heartbeat() -> None:
    _stop.set()


def _beat_until_stopped(worker: str) -> None:
    offset = time.time() - time.monotonic()
    while not _stop.is_set():
        with contextlib.suppress(redis.RedisError):
            beat(worker)
            offset = note_jump(offset)
        _stop.wait(settings.HEARTBEAT_SECONDS)
    with contextlib.suppress(redis.RedisError):
        queue_client().hdel(_LAST, worker)


def note_jump(offset: float) -> float:
    """Compare wall and monotonic clock with how they stood to each other; gives how they do now."""
    now = time.time() - time.monotonic()
    if abs(now - offset) > JUMP_SECONDS:
        told = json.dumps({"seconds": now - offset, "at": time.time()})
        queue_client().set(_JUMP, told, ex=_DAY_SECONDS)
    return now
