"""Which request or job a line of the log is about.

A request of a person or a program has an id: the one that its caller sent in X-Request-ID, if that
is well formed, else a new one. The answer carries it in the same header, an error says it in its
text, and every line that is logged meanwhile has it. A job has the id that Celery gave it, and with
it the id of the request that asked for the job, if one did.

Calls of devices have no id: nothing is logged about a single one, and an id would be a name for it.
"""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

HEADER = "X-Request-ID"
# Letters, digits and a few signs: nothing that could pass for another line or field of a log.
_WELL_FORMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{7,63}")


@dataclass(frozen=True)
class Trace:
    request: str = ""
    job: str = ""
    # What Celery calls the job: `releases.render_releases`.
    job_name: str = ""


_NOTHING = Trace()
_current: ContextVar[Trace] = ContextVar("trace", default=_NOTHING)


def current() -> Trace:
    return _current.get()


@contextmanager
def tracing(trace: Trace) -> Iterator[None]:
    token = _current.set(trace)
    try:
        yield
    finally:
        _current.reset(token)


def begin(trace: Trace) -> None:
    """For jobs, whose begin and end are two calls in one thread."""
    _current.set(trace)


def end() -> None:
    _current.set(_NOTHING)


def request_id(sent: str) -> str:
    """What the caller sent, if it is well formed; else a new one."""
    return sent if _WELL_FORMED.fullmatch(sent) else secrets.token_hex(8)
