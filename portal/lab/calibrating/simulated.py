"""A calibration on the fleet's made-up world: fitted on some regions, measured on others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from aggregation.calibration.asking import asked
from aggregation.calibration.proxy import Proxy
from aggregation.calibration.weighing import LEAST_DEVICES
from aggregation.ondevice.bounding import Rows
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Window
from portal.lab.calibrating.fit import Data, compiled, fit_task, proxy_of
from portal.lab.calibrating.parameters import Parameters
from portal.lab.calibrating.spreading import spread
from portal.lab.calibrating.world import catalog, homes, usual_window, world_events, world_of
from portal.lab.running import Ask

_FEWEST_REGIONS = 3


def calibrate(
    parameters: dict[str, Any],
    progress: Callable[[float], None] = lambda share: None,
    cancelled: Callable[[], bool] = lambda: False,
    *,
    processes: int = 1,
) -> dict[str, Any]:
    """The document that `load_result` reads, as plain values."""
    chosen, ask, streams = Parameters.of(parameters), Ask(progress, cancelled), catalog()
    task = compiled(chosen.spec, streams)
    window = usual_window(task.window_unit)
    mine, others = (
        max(_FEWEST_REGIONS, round(devices / chosen.per_region))
        for devices in (chosen.devices, chosen.devices / 5)
    )
    places = homes(chosen.seed, [mine, others])
    epsilon = float(task.epsilon) if chosen.epsilon is None else chosen.epsilon
    made = _Making(task, window, streams, chosen, processes=processes)
    found = fit_task(
        task,
        made.proxy(places[0], 2 * chosen.seed, ask.part(0.0, 0.6)),
        made.proxy(places[1], 2 * chosen.seed + 1, ask.part(0.6, 0.7)),
        name=chosen.fit,
        epsilon=epsilon,
        least_devices=min(LEAST_DEVICES, chosen.per_region // 5),
        data=made.data(places[0]),
        date=datetime.now(UTC),
        watch=ask.part(0.7, 1.0).watch,
    )
    return found.plain()


class _Making:
    """Populations of one world for one task."""

    def __init__(
        self,
        task: ClientTask,
        window: Window,
        streams: Catalog,
        chosen: Parameters,
        *,
        processes: int,
    ) -> None:
        self._task, self._window, self._streams, self._chosen = task, window, streams, chosen
        self._processes = processes

    def proxy(self, places: list[str], seed: int, ask: Ask) -> Proxy:
        world = world_of(seed, homes=places, per_region=self._chosen.per_region)
        task, window, streams = self._task, self._window, self._streams

        def work(first: int, end: int) -> Rows:
            events = world_events(world, list(task.reads), window, range(first, end))
            return asked(task, events, window, streams)

        rows = spread(world.phones, work, ask.watch, processes=self._processes)
        return proxy_of(task, rows, streams)

    def data(self, places: list[str]) -> Data:
        """Named by what it is made from: the same always gives the same people."""
        chosen = self._chosen
        recipe = [2 * chosen.seed, places, chosen.per_region, self._task.sql, self._window.id]
        return Data(
            kind="simulated",
            source=f"The made-up world: {len(places)} regions, {chosen.per_region:,} phones each",
            sha256=hashlib.sha256(msgspec.json.encode(recipe)).hexdigest(),
            seed=chosen.seed,
            window=self._window.id,
        )
