"""A shard: a process with some of the phones, told from outside how late it is."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import uvloop
from numpy.typing import NDArray

from aggregation.clock import ManualClock
from aggregation.errors import Problem
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit, Window
from devices_sim.fleet.draws import BLOCK
from devices_sim.fleet.driver import settle_memory
from devices_sim.fleet.ground_truth import CellSums, cell_sums
from devices_sim.fleet.portal import parts_at, pins_at
from devices_sim.fleet.report import Report
from devices_sim.fleet.scenario import Scenario
from devices_sim.fleet.world import World
from devices_sim.simulation.ledger import Ledger
from devices_sim.simulation.stepped import SteppedFleet
from devices_sim.simulation.system import Cost

# Requests under way on one connection: fewer, longer messages between two processes.
_AHEAD = 32


@dataclass(frozen=True)
class Order:
    """Which phones, and where they live."""

    scenario: Scenario
    data: Path
    url: str
    # Civil seconds since 1970.
    start: float
    tasks: int
    # This one, of so many.
    index: int
    of: int


@dataclass(frozen=True)
class Stepped:
    """What came of a step, all steps before it included but for the next moment."""

    next_due: float
    wake_ups: int
    sent: int
    turned_away: int
    unanswered: int


@dataclass(frozen=True)
class Finished:
    report: Report
    ledger: Ledger
    cost: Cost


# What a shard can be asked: a civil moment to go to, its results, or true sums.
@dataclass(frozen=True)
class Step:
    moment: float


@dataclass(frozen=True)
class Finish:
    pass


@dataclass(frozen=True)
class Update:
    """An update of the app, with the keys that the portal publishes now."""


@dataclass(frozen=True)
class Updated:
    pass


@dataclass(frozen=True)
class Truth:
    """True sums of these phones, of those that this shard has."""

    window: str
    keys: tuple[str, ...]
    phones: NDArray[np.bool_]


Request = Step | Finish | Truth | Update
Answer = Stepped | Finished | CellSums | Updated | Problem


def numbers_of(phones: int, index: int, of: int) -> NDArray[np.int64]:
    """Whole blocks: each is made by one process alone."""
    numbers = np.arange(phones)
    mine: NDArray[np.int64] = numbers[numbers // BLOCK % of == index]
    return mine


def live(order: Order, line: Connection) -> None:
    """The process: answers what it is asked until the line is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    os.nice(5)  # the server comes first
    try:
        uvloop.run(_answering(order, line))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    except Problem as problem:
        line.send(problem)


async def _answering(order: Order, line: Connection) -> None:
    catalog = Catalog.open(order.data / "streams")
    world = World(order.scenario, catalog, epoch=order.start)
    clock = ManualClock(datetime.fromtimestamp(order.start, UTC))
    rng = Random(order.scenario.seed * 1000 + order.index)  # noqa: S311 - wake-ups are no secret
    # Hostile phones make the server hang up on whoever shares a connection with them.
    ahead = 1 if order.scenario.hostile.share else _AHEAD
    async with parts_at(
        order.url, catalog=catalog, clock=clock, rng=rng, patient=True, ahead=ahead
    ) as parts:
        numbers = numbers_of(world.phones, order.index, order.of)
        fleet = SteppedFleet(
            world, parts, start=order.start, numbers=numbers.tolist(), tasks=order.tasks
        )
        settle_memory()
        while True:
            asked = await asyncio.to_thread(line.recv)
            if isinstance(asked, Update):
                fleet.lives.update(await pins_at(order.url))
                line.send(Updated())
            else:
                line.send(await _answer(asked, fleet, world, numbers, clock))


async def _answer(
    asked: Step | Finish | Truth,
    fleet: SteppedFleet,
    world: World,
    numbers: NDArray[np.int64],
    clock: ManualClock,
) -> Answer:
    match asked:
        case Step(moment):
            clock.set(datetime.fromtimestamp(moment, UTC))
            await fleet.catch_up()
            report = fleet.report
            return Stepped(
                next_due=fleet.next_due,
                wake_ups=report.wake_ups,
                sent=report.sent,
                turned_away=report.turned_away,
                unanswered=report.unanswered,
            )
        case Finish():
            fleet.lives.close_accounts()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            return Finished(fleet.report, fleet.ledger, Cost(peak, time.process_time()))
        case Truth(window_id, keys, phones):
            window = Window.parse(window_id, Unit.WEEK)
            mine = np.zeros(world.phones, dtype=bool)
            mine[numbers] = True
            return cell_sums(world, "trips", window, keys=keys, phones=phones & mine)


def result_of(answer: Any) -> Any:
    if isinstance(answer, Problem):
        raise answer
    return answer
