"""A simulation, told from start to end.

The clock stands still while phones do what they have to do, then moves on to the hour in which one
has something to do again. Where the server has something to do (a window ends, a window is
due) it is waited for: in real life it has hours for what has seconds here. Only a release is made
while phones live on.
"""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime, timedelta

from aggregation.errors import Problem
from aggregation.protocol.streams import Catalog
from devices_sim.fleet.places import geonames
from devices_sim.fleet.world import World
from devices_sim.simulation.errors import errors_of
from devices_sim.simulation.fleet import Fleet
from devices_sim.simulation.ledger import Ledger, counted_ids, verdict
from devices_sim.simulation.plan import GRACE, KEYS, STEP_SECONDS, Plan
from devices_sim.simulation.progress import Progress
from devices_sim.simulation.reached import reached
from devices_sim.simulation.result import Result, WindowResult, joined
from devices_sim.simulation.shard import Stepped
from devices_sim.simulation.system import System

# Machine seconds for a civil day in which phones do anything: partial sums are merged meanwhile.
_DAY_SECONDS = 1.0
# Machine seconds that the server is given when it has turned phones away.
_ROOM_SECONDS = 1.0


def simulate(plan: Plan, progress: Progress) -> Result:
    began = time.monotonic()
    system = System(plan)
    progress.say(f"preparing {plan.data}")
    system.prepare(populations_of(plan))
    with system, Fleet(plan) as fleet:
        progress.say(f"{plan.scenario.phones:,} phones of the scenario {plan.scenario.name}")
        system.await_ready()
        lived = time.monotonic()
        _live(plan, system, fleet, progress)
        seconds = time.monotonic() - lived
        progress.say("comparing with what really happened")
        result = _result(plan, system, fleet, seconds)
    result.all_seconds = time.monotonic() - began
    return result


def populations_of(plan: Plan) -> list[str]:
    """The countries that phones live in, from the scenario's places alone."""
    places, known = plan.scenario.places, geonames()
    names = known if places == "world" else places
    if unknown := [name for name in names if name not in known]:
        raise Problem(f"{unknown[0]!r} is not the GeoNames id of a place.")
    return sorted({known[name].countrycode for name in names})


def _live(plan: Plan, system: System, fleet: Fleet, progress: Progress) -> None:
    moment, last = plan.start, Stepped(plan.start.timestamp(), 0, 0, 0, 0)
    while moment < plan.end:
        began, before = time.monotonic(), last
        last = fleet.step(moment.timestamp())
        progress.at(moment, wake_ups=last.wake_ups, sent=last.sent)
        give_time(before, last, began)
        moment = _next_moment(plan, moment, last.next_due)
        system.check()
        system.clock.set(moment)
        _await_system(plan, system, moment)
    for window in plan.windows:
        system.await_release(window)
        progress.say(f"released {window.id}")


def give_time(before: Stepped, last: Stepped, began: float) -> None:
    if last.turned_away + last.unanswered > before.turned_away + before.unanswered:
        time.sleep(_ROOM_SECONDS)
    if last.sent > before.sent:
        least = _DAY_SECONDS * STEP_SECONDS / 86_400
        time.sleep(max(0.0, began + least - time.monotonic()))


def _next_moment(plan: Plan, moment: datetime, due: float) -> datetime:
    """The hour in which something happens, but no window's end nor that of its grace is missed."""
    hour = math.ceil(min(due, plan.end.timestamp()) / STEP_SECONDS) * STEP_SECONDS
    later = max(moment + timedelta(seconds=STEP_SECONDS), datetime.fromtimestamp(hour, UTC))
    stops = [stop for w in plan.windows for stop in (w.end, w.end + GRACE) if stop > moment]
    return min(later, *stops)


def _await_system(plan: Plan, system: System, moment: datetime) -> None:
    """A release goes on while phones live on, as long as none of them can send for it any more."""
    for window in plan.windows:
        if moment == window.end + GRACE:
            system.await_closing(window)
        if moment == window.end:
            system.await_offers(window)


def _result(plan: Plan, system: System, fleet: Fleet, seconds: float) -> Result:
    finished, costs = fleet.finish(), system.costs()
    ledger = Ledger()
    for each in finished:
        ledger.add(each.ledger)
    told = system.exact_counts()
    catalog = Catalog.open(plan.data / "streams")
    world = World(plan.scenario, catalog, epoch=plan.start.timestamp())
    windows = []
    for task in plan.tasks:
        for window in plan.windows:
            key = (task, window.id)
            found = verdict(ledger.of(key), counted_ids(told["counted"], key), phones=world.phones)
            truth = fleet.truth(window, KEYS[task], found.contributed)
            errors = errors_of(system.release_folder(task, window), truth)
            windows.append(WindowResult.of(task, window.id, found, errors))
    return Result(
        scenario=plan.scenario.name,
        devices=world.phones,
        weeks=plan.weeks,
        data=str(plan.data),
        seconds=seconds,
        report=joined([each.report for each in finished]),
        windows=windows,
        reach=reached(world, ledger, plan.tasks, plan.windows),
        refused=told["refused"],
        costs={**costs, **{f"phones {n + 1}": each.cost for n, each in enumerate(finished)}},
    )
