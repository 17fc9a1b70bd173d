"""Geographies to compare on: one to fit on and others, of other regions, to test on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aggregation.calibration.proxy import Proxy
from portal.lab.calibrating.world import homes, travel_proxy, world_of
from portal.lab.comparing.travellers import METRICS, travellers
from portal.lab.running import Ask

# The paper's: 500 million devices in 50,000 regions.
PER_REGION: Final = 10_000
OTHERS: Final = 3
_SHARE_OF_OTHERS: Final = 0.2
_FEWEST_REGIONS: Final = 3


def geographies(people: str, devices: int, seed: int, ask: Ask) -> list[Proxy]:
    """The first to fit on, the others to test on; no region is in two of them."""
    mine = _regions(devices)
    other = _regions(devices * _SHARE_OF_OTHERS)
    spans = [(mine, devices // mine), *[(other, PER_REGION)] * OTHERS]
    make = _worlds(seed, spans) if people == "world" else _travellers(seed, spans)
    made = []
    for number, proxy in enumerate(make):
        ask.go_on()
        ask.progress((number + 1) / len(spans))
        made.append(proxy)
    return made


def _regions(devices: float) -> int:
    return max(_FEWEST_REGIONS, round(devices / PER_REGION))


def _travellers(seed: int, spans: list[tuple[int, int]]) -> Iterator[Proxy]:
    for number, (regions, each) in enumerate(spans):
        yield travellers(regions=regions, per_region=each, seed=seed * len(spans) + number)


def _worlds(seed: int, spans: list[tuple[int, int]]) -> Iterator[Proxy]:
    """People of the fleet's world, as many in each of their home regions."""
    places = homes(seed, [regions for regions, _ in spans])
    for number, (mine, (_, each)) in enumerate(zip(places, spans, strict=True)):
        world = world_of(seed * len(spans) + number, homes=mine, per_region=each)
        yield travel_proxy(world, METRICS)
