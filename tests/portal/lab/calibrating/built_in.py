"""Where the parameters of the demo's tasks come from, measured: the provenance they ship with.

Their scales are what 95 of 100 phones of the demo's world stay below in a week, and their clip is
what 90 of 100 do, rounded by hand. So there is no fit to name; there is a world to name, and how
well the numbers do on it. `portal/tasks/starting_points/provenance.json` holds what this gives.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any, Final

import msgspec

from aggregation.calibration.asking import asked
from aggregation.ondevice.bounding import Rows
from devices_sim.fleet.scenario import load_scenario
from devices_sim.fleet.world import World
from portal.lab.calibrating.fit import AS_GIVEN, Data, compiled, fit_task, proxy_of
from portal.lab.calibrating.provenance import Fitted
from portal.lab.calibrating.spreading import spread
from portal.lab.calibrating.world import catalog, usual_window, world_events
from portal.tasks.starting_points import StartingPoint

MADE: Final = "The demo's made-up world"
HOW: Final = "no fit: quantiles of that world, 95 % for scales and about 90 % for the clip, by hand"
# A fifth of the phones that a city of the demo has.
_LEAST_DEVICES: Final = 250


def measured(
    point: StartingPoint, *, date: datetime, phones: int | None = None, processes: int = 1
) -> Fitted:
    """Its own parameters on the world of the demo, or on the first of its phones."""
    scenario = load_scenario("demo", **({} if phones is None else {"phones": phones}))
    task = compiled(point.spec, catalog())
    window = usual_window(task.window_unit)
    world = World(scenario, catalog(), epoch=window.start.timestamp())

    def work(first: int, end: int) -> Rows:
        events = world_events(world, list(task.reads), window, range(first, end))
        return asked(task, events, window, catalog())

    rows = spread(world.phones, work, lambda _: None, processes=processes)
    recipe = ["demo", scenario.seed, world.phones, task.sql, window.id]
    return fit_task(
        task,
        proxy_of(task, rows, catalog()),
        None,
        name=AS_GIVEN,
        epsilon=float(task.epsilon),
        least_devices=_LEAST_DEVICES,
        data=Data(
            kind="simulated",
            source=f"{MADE}: {world.phones:,} phones in {len(scenario.places)} cities",
            sha256=hashlib.sha256(msgspec.json.encode(recipe)).hexdigest(),
            seed=scenario.seed,
            window=window.id,
        ),
        date=date,
        watch=lambda _: None,
    )


def facts(found: Fitted) -> dict[str, Any]:
    """What ships beside the starting point."""
    told: dict[str, Any] = found.plain()["provenance"]
    return {**told, "fit": HOW, "made": "with the program"}
