"""The fleet's made-up world as a proxy population."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Final

import numpy as np

from aggregation.calibration.asking import Events
from aggregation.calibration.proxy import Proxy
from aggregation.ondevice.bounding import Rows
from aggregation.protocol.domains import Domain
from aggregation.protocol.ranks import Cells
from aggregation.protocol.shipped import ACTIVITIES, DIRECTIONS, shipped_catalog
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit, Window
from devices_sim.fleet.ground_truth import METRICS, sums_by_phone
from devices_sim.fleet.places import places_of
from devices_sim.fleet.scenario import load_scenario
from devices_sim.fleet.world import World
from portal.streams.geography import most_populous_places

KEYS: Final = ("region", "activity", "direction")
# Of the world's regions, the most populous: smaller ones are suburbs of each other.
_LARGE_REGIONS: Final = 3000
_WEEK: Final = Window.parse("2026-11-09", Unit.WEEK)


@lru_cache(maxsize=1)
def catalog() -> Catalog:
    """The shipped streams over all regions, without a database."""
    places = most_populous_places()
    regions, countries = list(map(str, places.regions)), list(map(str, places.country_codes))
    return shipped_catalog(regions=regions, countries=countries)


def world_of(seed: int, *, homes: Sequence[str], per_region: int) -> World:
    """As many people in each of these regions, with nothing unusual in their lives."""
    scenario = load_scenario(
        "world",
        seed=seed,
        phones=len(homes) * per_region,
        places=dict.fromkeys(homes, 1.0),
        unusual={},
    )
    return World(scenario, catalog(), epoch=_WEEK.start.timestamp())


def homes(seed: int, sizes: Sequence[int]) -> list[list[str]]:
    """Sets of large regions that have none in common, as large as asked for."""
    places = places_of(catalog())
    large = np.argsort(-places.population, kind="stable")[:_LARGE_REGIONS]
    order = iter(np.random.default_rng(seed).permutation(large).tolist())
    return [[places.ids[next(order)] for _ in range(size)] for size in sizes]


def usual_window(unit: Unit) -> Window:
    """A window of working days, at the busiest time where it is an hour."""
    wednesday = _WEEK.start + timedelta(days=2, hours=17)
    return Window.containing(wednesday, unit)


def world_events(
    world: World, streams: Sequence[str], window: Window, phones: range
) -> Iterator[Events]:
    """What happened on each of these phones, of the streams that its owner agrees to."""
    start, end = window.span
    for phone in phones:
        agreed = world.consents(phone)
        yield {name: world.events(phone, name, start, end) for name in streams if name in agreed}


def travel_proxy(world: World, metrics: Sequence[str]) -> Proxy:
    """A week's trips, kilometres and minutes by region, activity and direction, in one go."""
    parts = list(sums_by_phone(world, "trips", _WEEK, keys=KEYS))
    phone, cell, units = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("phone", "cell", "units")
    )
    offsets = np.zeros(world.phones + 1, dtype=np.int64)
    np.cumsum(np.bincount(phone, minlength=world.phones), out=offsets[1:])
    values = units / np.array([1, *METRICS["trips"].values()])
    cells = Cells(KEYS, (Domain(world.places.ids), ACTIVITIES, DIRECTIONS))
    return Proxy.of(cells, metrics, Rows(offsets, cell, values), count=metrics[0])
