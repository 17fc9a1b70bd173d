"""Appending to the sessions' queues: what arrives at about the same time goes in one round trip.

The queue of a session is a list in Valkey that exists while the session takes updates: RPUSHX
appends only then, and answers with the new length, or 0. Whoever waits has a future of their own:
a device that hangs up takes nobody along, and what it sent is appended all the same.
"""

import asyncio
import logging
from collections import defaultdict
from dataclasses import dataclass, field

import redis

from portal.device_api.line import Command, Line
from portal.device_api.outage import Away, Outage

logger = logging.getLogger(__name__)

_QUEUE = "The queue"


@dataclass(slots=True)
class _Asked:
    """What goes to one key: items to append, or how much to add; and who waits for the reply."""

    items: list[bytes] = field(default_factory=list)
    count: int = 0
    waiting: list[asyncio.Future[int]] = field(default_factory=list)

    def command(self, key: str) -> Command:
        return ("RPUSHX", key, *self.items) if self.items else ("INCRBY", key, self.count)

    def settle(self, reply: int) -> None:
        for future in self.waiting:
            if not future.done():  # else whoever waited has hung up
                future.set_result(reply)

    def give_up(self, seconds: float) -> None:
        for future in self.waiting:
            if not future.done():
                future.set_exception(Away(_QUEUE, seconds))


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
        asked = self._next[queue]
        asked.items.append(item)
        return self._confirmation(asked)

    def add_one(self, counter: str) -> asyncio.Future[int]:
        asked = self._next[counter]
        asked.count += 1
        return self._confirmation(asked)

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
            asked.give_up(0.0)

    def _confirmation(self, asked: _Asked) -> asyncio.Future[int]:
        if self._is_closed:
            raise Away(_QUEUE, 0.0)
        future: asyncio.Future[int] = self._loop.create_future()
        asked.waiting.append(future)
        if not self._is_called:
            self._is_called = True
            self._wake.set()
        return future

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
            asked.give_up(seconds)
