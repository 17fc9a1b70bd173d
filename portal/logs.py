"""How log lines look: a mistake in the code is a traceback, anything else one line."""

import logging
from types import TracebackType

import redis
from django.core.exceptions import SuspiciousOperation
from kombu.exceptions import OperationalError

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
