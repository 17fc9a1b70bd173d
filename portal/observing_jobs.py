"""Jobs, observed: their ids in the log, how long they take, and since when one keeps failing."""

import contextlib
import json
import time
from dataclasses import dataclass
from typing import Any

import redis
from celery.signals import (
    before_task_publish,
    task_failure,
    task_postrun,
    task_prerun,
    task_success,
)

from portal import measuring, tracing
from portal.valkey import queue_client, queue_hash

FAILING = "mayfly:failing"
# The name under which a request's id travels with the jobs it asks for.
_HEADER = "mayfly_request"
# Sessions last as long as they last, and many questions as long as each: no measure of anything.
_UNMEASURED = frozenset({"collection.run_session", "pages.ask"})
_began: dict[str, float] = {}


@dataclass(frozen=True)
class Failing:
    """A job that failed when it last ran."""

    name: str
    # Machine time: of the first failure since it last succeeded.
    since: float
    # Of the latest failure: what the log is to be searched for.
    job: str
    times: int


def failing() -> list[Failing]:
    """Jobs that did not succeed when they last ran, the longest first."""
    rows = [Failing(name, **json.loads(told)) for name, told in queue_hash(FAILING).items()]
    return sorted(rows, key=lambda row: row.since)


@before_task_publish.connect
def _send_request_id(headers: dict[str, Any] | None = None, **_: Any) -> None:
    if headers is not None and (request := tracing.current().request):
        headers[_HEADER] = request


@task_prerun.connect
def _begin(task_id: str = "", task: Any = None, **_: Any) -> None:
    request = str(getattr(task.request, _HEADER, "") or "")
    tracing.begin(tracing.Trace(request=request, job=task_id, job_name=task.name))
    _began[task_id] = time.perf_counter()


@task_postrun.connect
def _end(task_id: str = "", task: Any = None, state: str | None = None, **_: Any) -> None:
    seconds = time.perf_counter() - _began.pop(task_id, time.perf_counter())
    outcome = "succeeded" if state == "SUCCESS" else "failed"
    if task.name not in _UNMEASURED:
        measuring.took("job", seconds, job=task.name, outcome=outcome)
    tracing.end()


@task_failure.connect
def _failed(task_id: str = "", sender: Any = None, **_: Any) -> None:
    with contextlib.suppress(redis.RedisError, OSError):
        client = queue_client()
        before = json.loads(client.hget(FAILING, sender.name) or "{}")
        told = {
            "since": before.get("since", time.time()),
            "job": task_id,
            "times": before.get("times", 0) + 1,
        }
        client.hset(FAILING, sender.name, json.dumps(told))


@task_success.connect
def _succeeded(sender: Any = None, **_: Any) -> None:
    if not sender.request.is_eager:  # else whoever asked several knows which of them failed
        note_success(sender.name)


def note_success(name: str) -> None:
    """This job does not fail, or not any more."""
    with contextlib.suppress(redis.RedisError, OSError):
        queue_client().hdel(FAILING, name)


def names_failing() -> set[str]:
    """Which jobs failed when they last ran, as far as Valkey tells."""
    with contextlib.suppress(redis.RedisError, OSError):
        return set(queue_hash(FAILING))
    return set()
