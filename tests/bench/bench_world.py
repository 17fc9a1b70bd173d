"""What a made-up world costs: its making, a phone's week of events, its moments, its memory."""

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import ormsgpack

from aggregation.ondevice.events import Event
from aggregation.protocol.shipped import shipped_catalog
from aggregation.protocol.streams import Catalog
from devices_sim.fleet.scenario import load_scenario
from devices_sim.fleet.world import World
from portal.streams.geography import most_populous_places
from tests.bench.figures import Figure, is_full, seconds_each

MONDAY = datetime(2026, 11, 9, tzinfo=UTC).timestamp()
WEEK = 7 * 86_400.0


def figures() -> Iterator[Figure]:
    places = most_populous_places()
    regions, countries = list(map(str, places.regions)), list(map(str, places.country_codes))
    catalog = shipped_catalog(regions=regions, countries=countries)
    phones = 1_000_000 if is_full() else 100_000
    yield _making(catalog, phones)
    world = World(load_scenario("world", phones=20_000), catalog, epoch=MONDAY)
    yield from _events(world)
    moments = [world.wake_ups(phone, MONDAY, MONDAY + WEEK) for phone in range(world.phones)]
    told = _each(world, lambda phone: world.wake_ups(phone, MONDAY, MONDAY + WEEK))
    floor = _each(world, lambda phone: list(moments[phone]))
    yield Figure("world.wake_ups", told, floor, "µs per phone-week, held", "copies of ready lists")


def _making(catalog: Catalog, phones: int) -> Figure:
    scenario = load_scenario("world", phones=phones)
    made = World(scenario, catalog, epoch=MONDAY)
    weights = made.places.population / made.places.population.sum()
    ours = seconds_each(lambda: World(scenario, catalog, epoch=MONDAY), times=1, rounds=3)
    rng = np.random.default_rng(1)
    peer = seconds_each(lambda: rng.choice(len(weights), phones, p=weights), times=1, rounds=3)
    name = f"world of {phones:,} phones, places read"
    return Figure(name, ours, peer, "s", "numpy's choice of as many homes")


def _events(world: World) -> Iterator[Figure]:
    def week(phone: int) -> list[Event]:
        return world.events(phone, "trips", MONDAY, MONDAY + WEEK)

    made = _each(world, week, rounds=1)
    ready = [week(phone) for phone in range(world.phones)]
    held = _each(world, week)
    floor = _each(
        world, lambda phone: [Event(e.time, e.utc_offset, e.values) for e in ready[phone]]
    )
    beside = "the same events from ready values"
    yield Figure("world.events, made and told", made, floor, "µs per phone-week", beside)
    yield Figure("world.events, held", held, floor, "µs per phone-week", beside)
    packed = (
        sum(len(ormsgpack.packb([tuple(e) for e in events])) for events in ready) / world.phones
    )
    columns = world.nbytes / world.phones
    yield Figure("world.trips held", columns, packed, "bytes per phone-week", "MessagePack")


def _each(world: World, work: object, rounds: int = 3) -> float:
    def all_phones() -> None:
        for phone in range(world.phones):
            work(phone)  # type: ignore[operator]

    return seconds_each(all_phones, times=1, rounds=rounds) / world.phones * 1e6
