"""Appending to the sessions' queues: what arrives at about the same time goes in one round trip.

The queue of a session is a list in Valkey that exists while the session takes updates: RPUSHX
appends only then, and answers with the new length, or 0. Whoever waits has a future of their own:
a device that hangs up takes nobody along, and what it sent is appended all the same.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import redis

from portal.device_api.line import Command, Line
from portal.device_api.outage import Away, Outage

logger = logging.getLogger(__name__)

_QUEUE = "The queue"


@dataclass
class _Batch:
    """What goes out together: items by queue, additions by counter, and who waits for which."""

    items: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    waiting: dict[str, list[asyncio.Future[int]]] = field(default_factory=lambda: defaultdict(list))

    def commands(self) -> Iterator[Command]:
        for queue, items in self.items.items():
            yield ("RPUSHX", queue, *items)
        for counter, count in self.counts.items():
            yield ("INCRBY", counter, count)

    def settle(self, key: str, reply: int) -> None:
        for future in self.waiting.pop(key):
            if not future.done():  # else whoever waited has hung up
                future.set_result(reply)

    def give_up(self, seconds: float) -> None:
        for futures in self.waiting.values():
            for future in futures:
                if not future.done():
                    future.set_exception(Away(_QUEUE, seconds))
        self.waiting.clear()


class Appender:
    """Appends for all requests of this process; `run` is its one task."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._loop = asyncio.get_running_loop()
        self._next = _Batch()
        self._wake = asyncio.Event()
        self._outage = Outage()
        self._is_closed = False

    def append(self, queue: str, item: bytes) -> asyncio.Future[int]:
        """The queue's length with the item in it, or 0 if there is no such queue."""
        self._next.items[queue].append(item)
        return self._confirmation(queue)

    def add_one(self, counter: str) -> asyncio.Future[int]:
        self._next.counts[counter] += 1
        return self._confirmation(counter)

    async def run(self) -> None:
        """Send what waits, then what came meanwhile, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            batch, self._next = self._next, _Batch()
            await self._send(batch)

    def close(self) -> None:
        """After `run` has ended: nobody is left waiting, and nobody begins to."""
        self._is_closed = True
        self._next.give_up(0.0)

    def _confirmation(self, key: str) -> asyncio.Future[int]:
        if self._is_closed:
            raise Away(_QUEUE, 0.0)
        future: asyncio.Future[int] = self._loop.create_future()
        self._next.waiting[key].append(future)
        self._wake.set()
        return future

    async def _send(self, batch: _Batch) -> None:
        try:
            replies = await self._line.ask(batch.commands())
            for key, reply in zip((*batch.items, *batch.counts), replies, strict=True):
                if isinstance(reply, int):  # else an error, such as no memory left
                    batch.settle(key, reply)
        except (redis.RedisError, OSError):
            pass  # nobody's answer came: they are told below
        except Exception as error:
            # This task serves everyone: it does not end, and says what it can.
            logger.error("Appending failed with %s.", type(error).__name__)
        finally:
            self._conclude(batch)

    def _conclude(self, batch: _Batch) -> None:
        """Whoever has no answer by now gets none."""
        if batch.waiting:
            batch.give_up(self._outage.goes_on())
        else:
            self._outage.is_over()
