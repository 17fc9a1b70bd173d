"""Appending to the sessions' queues: what arrives at about the same time goes in one round trip.

The queue of a session is a list in Valkey that exists while the session takes updates: RPUSHX
appends only then, and answers with the new length, or 0. Everyone is told on their own: a device
that hangs up takes nobody along, and what it sent is appended all the same.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import redis

from portal.device_api.line import Command, Line
from portal.device_api.outage import Away, Outage

logger = logging.getLogger(__name__)

_QUEUE = "The queue"

# The length of a queue or the value of a counter, or that nobody knows.
Reply = int | Away


@dataclass(slots=True)
class _Asked:
    """What goes to one key: items to append, or how much to add; and who is told the reply."""

    items: list[bytes] = field(default_factory=list)
    count: int = 0
    waiting: list[Callable[[Reply], None]] = field(default_factory=list)

    def command(self, key: str) -> Command:
        return ("RPUSHX", key, *self.items) if self.items else ("INCRBY", key, self.count)

    def settle(self, reply: Reply) -> None:
        for tell in self.waiting:
            try:
                tell(reply)
            except Exception as error:
                # The others are told all the same.
                logger.error("Answering an append failed with %s.", type(error).__name__)


# What goes out together, by key.
_Batch = defaultdict[str, _Asked]


class Appender:
    """Appends for all requests of this process; `run` is its one task."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._loop = asyncio.get_running_loop()
        self._next: _Batch = defaultdict(_Asked)
        self._wake = asyncio.Event()
        # Whether it was woken: quicker to ask than the event.
        self._is_called = False
        self._outage = Outage()
        self._is_closed = False

    def append(self, queue: str, item: bytes) -> asyncio.Future[int]:
        """The queue's length with the item in it, or 0 if there is no such queue."""
        future: asyncio.Future[int] = self._loop.create_future()
        self.append_and_tell(queue, item, partial(_settle, future))
        return future

    def append_and_tell(self, queue: str, item: bytes, tell: Callable[[Reply], None]) -> None:
        """The same without a future: `tell` is called once, a little later."""
        asked = self._asked(queue)
        asked.items.append(item)
        asked.waiting.append(tell)

    def add_one(self, counter: str) -> asyncio.Future[int]:
        future: asyncio.Future[int] = self._loop.create_future()
        self.add_one_and_tell(counter, partial(_settle, future))
        return future

    def add_one_and_tell(self, counter: str, tell: Callable[[Reply], None]) -> None:
        asked = self._asked(counter)
        asked.count += 1
        asked.waiting.append(tell)

    async def run(self) -> None:
        """Send what waits, then what came meanwhile, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            self._is_called = False
            batch, self._next = self._next, defaultdict(_Asked)
            await self._send(batch)

    def close(self) -> None:
        """After `run` has ended: nobody is left waiting, and nobody begins to."""
        self._is_closed = True
        for asked in self._next.values():
            asked.settle(Away(_QUEUE, 0.0))

    def _asked(self, key: str) -> _Asked:
        if self._is_closed:
            raise Away(_QUEUE, 0.0)
        if not self._is_called:
            self._is_called = True
            self._wake.set()
        return self._next[key]

    async def _send(self, batch: _Batch) -> None:
        try:
            replies = await self._line.ask([one.command(key) for key, one in batch.items()])
            for key, reply in zip(tuple(batch), replies, strict=True):
                if isinstance(reply, int):  # else an error, such as no memory left
                    batch.pop(key).settle(reply)
        except (redis.RedisError, OSError):
            pass  # nobody's answer came: they are told below
        except Exception as error:
            # This task serves everyone: it does not end, and says what it can.
            logger.error("Appending failed with %s.", type(error).__name__)
        finally:
            self._conclude(batch)

    def _conclude(self, batch: _Batch) -> None:
        """Whoever has no answer by now gets none."""
        if not batch:
            self._outage.is_over()
            return
        seconds = self._outage.goes_on()
        for asked in batch.values():
            asked.settle(Away(_QUEUE, seconds))


def _settle(future: asyncio.Future[int], reply: Reply) -> None:
    if future.done():
        return  # whoever waited has hung up
    if isinstance(reply, Away):
        future.set_exception(Away(reply.what, reply.seconds))  # one for each: it is raised
    else:
        future.set_result(reply)
