"""What devices do, counted in this process's memory and written to Valkey about once a second.

No request waits for it. Every call is counted; size and time are taken of one in 32 of each kind,
since that costs a tenth of what the rest of an upload does. What is written and how it is kept:
`portal.collection.fleet_counts`. It holds counts, and nothing that could name a device.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterator

import redis

from aggregation.clock import Clock
from portal.collection import fleet_counts
from portal.collection.fleet_buckets import BYTES, MILLISECONDS, bucket
from portal.collection.fleet_counts import OK, Stage
from portal.device_api.answers import Answer
from portal.device_api.line import Command, Line
from portal.device_api.requests import Request

logger = logging.getLogger(__name__)

# What a call that was done is in the funnel, for the population that it named or is known for.
_STAGES = {"check-in": Stage.CHECKED_IN, "upload": Stage.UPLOADED}

MEASURED_ONE_IN = 32

_Counts = Counter[tuple[str, str]]
_Kind = tuple[str, str, str]


class Tally:
    """Counts of this process; `run` is its one task."""

    def __init__(self, line: Line, *, every: float, clock: Clock) -> None:
        self._line = line
        self._every = every
        self._clock = clock
        # By counter and population.
        self._counts: _Counts = Counter()
        # By name, outcome and population: since the start, and how many of these are in `_counts`.
        self._calls: dict[_Kind, int] = {}
        self._taken: dict[_Kind, int] = {}

    def count(self, counter: str, population: str) -> None:
        self._counts[counter, population] += 1

    def call(self, name: str, request: Request, answer: Answer, began: float) -> None:
        """One call was answered that began at this moment of `time.perf_counter`."""
        kind = (name, answer.outcome, request.population)
        self._calls[kind] = times = self._calls.get(kind, 0) + 1
        if times % MEASURED_ONE_IN == 1:
            self._measure(name, request.size(), answer.size, time.perf_counter() - began)

    def _measure(self, name: str, up: int, down: int, seconds: float) -> None:
        """One call stands for those that are not measured."""
        self._counts[fleet_counts.BYTES_UP, ""] += MEASURED_ONE_IN * up
        self._counts[fleet_counts.BYTES_DOWN, ""] += MEASURED_ONE_IN * down
        buckets = {
            "up": bucket(up, BYTES),
            "down": bucket(down, BYTES),
            "ms": bucket(1000 * seconds, MILLISECONDS),
        }
        for what, number in buckets.items():
            self._counts[fleet_counts.measure(what, name, number), ""] += 1

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            await self.write()

    async def write(self) -> None:
        """One exchange. What may not have arrived is written again: an outage is worth seeing, and
        a second that counts twice does no harm."""
        counts = self._take()
        if not counts:
            return
        try:
            await self._line.ask(self._commands(counts))
        except (redis.RedisError, OSError):
            self._counts.update(counts)
        except Exception as error:
            # Counts are lost rather than this task.
            logger.error("Counting failed with %s.", type(error).__name__)

    def _take(self) -> _Counts:
        """Everything since the last time."""
        counts, self._counts = self._counts, Counter()
        for kind, times in self._calls.items():
            if more := times - self._taken.get(kind, 0):
                name, outcome, population = kind
                counts[fleet_counts.call(name, outcome), ""] += more
                if outcome == OK and name in _STAGES:
                    counts[_STAGES[name], population] += more
        self._taken = self._calls.copy()
        return counts

    def _commands(self, counts: _Counts) -> Iterator[Command]:
        day = self._clock.now().date()
        for (counter, population), count in counts.items():
            name = fleet_counts.field(day, counter, population)
            yield ("HINCRBY", fleet_counts.HASH, name, count)
