"""The library: client tasks this process has read, by hash, made ready to run.

A client task is public, immutable and named by its content, and a prepared one holds nothing of
any phone: phones of one process share it. Whether a phone has downloaded a task is its own matter.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import msgspec

from aggregation.errors import Problem
from aggregation.ondevice.execute import PreparedTask
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.streams import Catalog
from aggregation.protocol.update import Shape, most_windows
from devices_sim.device import budget
from devices_sim.device.refusal import Refused

# Tasks kept ready; the one unused for longest goes first.
MAX_TASKS: Final = 256
# The version of client tasks that this runtime understands.
VERSION: Final = 1


@dataclass(frozen=True, eq=False)
class Known:
    """A client task that is what its name says, and that this device could run."""

    task: ClientTask
    prepared: PreparedTask
    shape: Shape
    # In hundredths of ε, per window.
    price: int
    most_windows: int

    @cached_property
    def streams(self) -> tuple[str, ...]:
        return tuple(self.task.reads)


class Library:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._tasks: OrderedDict[str, Known] = OrderedDict()

    def get(self, sha256: str) -> Known | None:
        known = self._tasks.get(sha256)
        if known is not None:
            self._tasks.move_to_end(sha256)
        return known

    def add(self, sha256: str, body: bytes) -> Known:
        """Read what was downloaded under this name, or refuse it."""
        if hashlib.sha256(body).hexdigest() != sha256:
            raise Refused("What was downloaded is not the task that was named: its hash differs.")
        known = self._tasks.get(sha256) or _read(body, self._catalog)
        self._tasks[sha256] = known
        while len(self._tasks) > MAX_TASKS:
            self._tasks.popitem(last=False)
        return known


@lru_cache(maxsize=8)
def shared_library(catalog: Catalog) -> Library:
    """One for all phones of this process with the same catalog."""
    return Library(catalog)


def _read(body: bytes, catalog: Catalog) -> Known:
    try:
        task = msgspec.json.decode(body, type=ClientTask)
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise Refused("What was downloaded is no client task.") from None
    if task.version != VERSION:
        raise Refused(f"It is written for version {task.version} of the runtime; this is 1.")
    if task.canonical() != body:
        raise Refused("It holds more than this phone understands, and is not run by halves.")
    if set(task.reads) != set(task.streams) or not task.reads:
        raise Refused("It does not name the streams it reads.")
    price = budget.price(task.epsilon)
    try:
        shape = Shape.of(task)
        return Known(task, PreparedTask(task, catalog), shape, price, most_windows(shape))
    except Problem as problem:
        raise Refused(problem.message) from None
