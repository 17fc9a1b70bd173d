"""Parts of the world that a map can show from nearer by than the world, as a country can be."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from portal.charts.boundaries import Point


@dataclass(frozen=True)
class Area:
    name: str
    # As GeoNames writes it, beside each country.
    continent: str
    # West, south, east, north.
    box: tuple[float, float, float, float]

    @property
    def edge(self) -> list[Point]:
        """Points along its box: on a round earth they are no rectangle."""
        west, south, east, north = self.box
        parts = [step / 12 for step in range(13)]
        across = [west + (east - west) * part for part in parts]
        down = [south + (north - south) * part for part in parts]
        level = [(x, y) for x in across for y in (south, north)]
        return level + [(x, y) for x in (west, east) for y in down]


# By the word of an address. Where people live, not what belongs to it.
AREAS: Final[Mapping[str, Area]] = {
    "europe": Area("Europe", "EU", (-11.0, 35.0, 41.0, 70.5)),
    "africa": Area("Africa", "AF", (-18.0, -35.5, 51.5, 37.5)),
    "asia": Area("Asia", "AS", (30.0, -10.5, 146.0, 55.0)),
    "north-america": Area("North America", "NA", (-130.0, 7.0, -58.0, 60.0)),
    "south-america": Area("South America", "SA", (-82.0, -55.5, -34.5, 12.5)),
    "oceania": Area("Oceania", "OC", (112.0, -47.5, 179.5, 0.0)),
}
