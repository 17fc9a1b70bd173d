"""The fleet's made-up world as a proxy population."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from aggregation.calibration.proxy import Proxy
from aggregation.ondevice.bounding import Rows
from aggregation.protocol.domains import Domain
from aggregation.protocol.ranks import Cells
from aggregation.protocol.shipped import ACTIVITIES, DIRECTIONS, shipped_catalog
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Window
from devices_sim.fleet.ground_truth import METRICS, PhoneSums, sums_by_phone
from devices_sim.fleet.scenario import load_scenario
from devices_sim.fleet.world import World
from portal.streams.geography import most_populous_places

KEYS = ("region", "activity", "direction")


@lru_cache(maxsize=1)
def catalog() -> Catalog:
    """The shipped streams over all regions, without a database."""
    places = most_populous_places()
    regions, countries = list(map(str, places.regions)), list(map(str, places.country_codes))
    return shipped_catalog(regions=regions, countries=countries)


def world_of(seed: int, phones: int, *, window: Window, **changes: Any) -> World:
    """A world whose first week is that of the window, with nothing unusual in it."""
    scenario = load_scenario("world", seed=seed, phones=phones, **changes)
    return World(scenario, catalog(), epoch=window.start.timestamp())


def world_proxy(world: World, window: Window, metrics: Sequence[str]) -> Proxy:
    """What each phone has in each cell of region, activity and direction: num_trips and lengths."""
    parts = list(sums_by_phone(world, "trips", window, keys=KEYS))
    found = PhoneSums(
        *(np.concatenate([getattr(p, n) for p in parts]) for n in ("phone", "cell", "units"))
    )
    units = np.array([1, *METRICS["trips"].values()])
    offsets = np.zeros(world.phones + 1, dtype=np.int64)
    np.cumsum(np.bincount(found.phone, minlength=world.phones), out=offsets[1:])
    cells = Cells(KEYS, (Domain(world.places.ids), ACTIVITIES, DIRECTIONS))
    return Proxy.of(
        cells, metrics, Rows(offsets, found.cell, found.units / units), count=metrics[0]
    )
