"""All phones of a simulation: several processes, each with some of them, in step."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregation.errors import Problem
from aggregation.protocol.windows import Window
from devices_sim.fleet.ground_truth import CellSums, added
from devices_sim.simulation import shard
from devices_sim.simulation.plan import Plan
from devices_sim.simulation.shard import (
    Finish,
    Finished,
    Order,
    Request,
    Step,
    Stepped,
    Truth,
    Update,
)

# So long a process that was asked to end may take.
_END_SECONDS = 5.0
# Large pages, where glibc allocates: with gigabytes of phones at rest, a twentieth of the time is
# looking up where a page is.
_ALLOCATION = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")


@contextmanager
def _allocating_for_many() -> Iterator[None]:
    """For processes that start meanwhile, and no others; what somebody has set stands."""
    name, value = _ALLOCATION
    if name in os.environ:
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


class Fleet(AbstractContextManager["Fleet"]):
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        # A fresh interpreter: nothing of this one, such as its signals, is inherited.
        self._context = multiprocessing.get_context("spawn")
        self._shards: list[tuple[Any, Connection]] = []

    def __enter__(self) -> Fleet:
        for index in range(self._plan.processes):
            ours, theirs = self._context.Pipe()
            order = Order(
                scenario=self._plan.scenario,
                data=self._plan.data,
                url=self._plan.url,
                start=self._plan.start.timestamp(),
                tasks=len(self._plan.tasks),
                index=index,
                of=self._plan.processes,
            )
            process = self._context.Process(target=shard.live, args=(order, theirs), daemon=True)
            with _allocating_for_many():
                process.start()
            theirs.close()
            self._shards.append((process, ours))
        return self

    def __exit__(self, *_: object) -> None:
        for process, line in self._shards:
            line.close()
            process.terminate()
        for process, _line in self._shards:
            process.join(_END_SECONDS)
            if process.is_alive():
                process.kill()
                process.join()

    def step(self, moment: float) -> Stepped:
        """Bring all phones to a civil moment; everything that was due by then is done."""
        found: list[Stepped] = self._ask(Step(moment))
        return Stepped(
            next_due=min(each.next_due for each in found),
            wake_ups=sum(each.wake_ups for each in found),
            sent=sum(each.sent for each in found),
            turned_away=sum(each.turned_away for each in found),
            unanswered=sum(each.unanswered for each in found),
        )

    def update_phones(self) -> None:
        """All of them pin the keys that the portal publishes now."""
        self._ask(Update())

    def finish(self) -> list[Finished]:
        return self._ask(Finish())

    def truth(self, window: Window, keys: tuple[str, ...], phones: NDArray[np.bool_]) -> CellSums:
        """What these phones really did in the window, by cell."""
        return added(self._ask(Truth(window.id, keys, phones)))

    def _ask(self, request: Request) -> list[Any]:
        try:
            for _, line in self._shards:
                line.send(request)
            return [shard.result_of(line.recv()) for _, line in self._shards]
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise Problem(
                "A process with phones has ended by itself.",
                hint="Perhaps the machine has too little memory: simulate fewer devices.",
            ) from None
