"""Saying that a session is alive while its own thread cannot: it computes, or waits for a part.

To wait for a connection to the database takes seconds, which may be more than a lapse. A session
that only waits is not dead. One that waits for longer than others do is: cut off from the database
alone, it would keep its windows from being released.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import redis
from django.conf import settings

from portal.collection import live

# For so many lapses a session says that it is alive although a part that it needs is away.
PATIENCE = 4


def patience_seconds() -> float:
    return float(PATIENCE * settings.SESSION_LAPSE_SECONDS)


@contextmanager
def beating(session: str, *, seconds: float) -> Iterator[None]:
    """For so long and no longer. What takes less than a part of a lapse costs no beat."""
    done, until = threading.Event(), time.monotonic() + seconds

    def go_on() -> None:
        while not done.wait(settings.SESSION_LAPSE_SECONDS / 3) and time.monotonic() < until:
            with suppress(redis.RedisError):
                live.beat(session)

    thread = threading.Thread(target=go_on, name="beating", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
