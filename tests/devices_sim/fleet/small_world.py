"""A small catalog of real places, and worlds in it: the scenarios' cities and what is around."""

from functools import lru_cache
from typing import Any

from aggregation.protocol.shipped import shipped_catalog
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit, Window
from devices_sim.fleet.places import geonames
from devices_sim.fleet.scenario import load_scenario, scenario_names
from devices_sim.fleet.world import World

WEEK = Window.parse("2026-11-09", Unit.WEEK)
MONDAY, SECONDS = WEEK.start.timestamp(), 7 * 86_400.0


@lru_cache(maxsize=1)
def real_catalog() -> Catalog:
    """The demo's countries from 80,000 people on, all cities of scenarios, and large ones."""
    scenarios = [load_scenario(name) for name in scenario_names()]
    named = {place for s in scenarios if s.places != "world" for place in s.places}
    countries = {geonames()[name].countrycode for name in named}

    def belongs(name: str) -> bool:
        place = geonames()[name]
        at_least = 80_000 if place.countrycode in countries else 3_000_000
        return name in named or place.population >= at_least

    chosen = [name for name in geonames() if belongs(name)]
    codes = sorted({geonames()[name].countrycode for name in chosen})
    return shipped_catalog(regions=chosen, countries=codes)


_made: dict[str, World] = {}


def world(name: str = "demo", **overrides: Any) -> World:
    """A world whose week 0 is `WEEK`; the same one for the same question."""
    question = f"{name} {sorted(overrides.items())}"
    if question not in _made:
        scenario = load_scenario(name, **overrides)
        _made[question] = World(scenario, real_catalog(), epoch=MONDAY - 3600)
    return _made[question]
