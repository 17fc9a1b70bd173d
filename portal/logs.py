"""How log lines look: one line an event, as text for people or as JSON for programs.

A mistake in the code is a traceback; anything else is one line. Each line ends in the id of the
request or job that it is about, so that an operator finds it from what an error page says.
"""

import json
import logging
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import redis
from django.core.exceptions import SuspiciousOperation
from kombu.exceptions import OperationalError

from portal import tracing

Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


# Lost connections come back by themselves, and strangers may send what they like.
_ONE_LINE = (redis.RedisError, OperationalError, ConnectionError, SuspiciousOperation)


class LineFormatter(logging.Formatter):
    """Gives only the name and the words of an exception that nobody has to trace."""

    def formatException(self, ei: Raised) -> str:  # noqa: N802 - the name logging calls
        kind, error, _ = ei
        if kind and issubclass(kind, _ONE_LINE):
            return f"{kind.__name__}: {error}"
        return super().formatException(ei)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        line, about = super().formatMessage(record), _about(record)
        return f"{line} [{' '.join(f'{k} {v}' for k, v in about.items())}]" if about else line


class JsonFormatter(LineFormatter):
    """One JSON object a line; a traceback is a text in it."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_about(record),
            **getattr(record, "told", {}),
        }
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False, default=str)


def _about(record: logging.LogRecord) -> dict[str, str]:
    """Ids of what the line is about. Django logs some answers after the request has ended."""
    trace = tracing.current()
    request = getattr(getattr(record, "request", None), "request_id", "") or trace.request
    found = {"request": request, "job": trace.job, "job_name": trace.job_name}
    return {name: value for name, value in found.items() if value}
