"""Which part of the earth a map shows, and how large."""

import math
from collections.abc import Sequence
from functools import lru_cache

from portal.charts.areas import AREAS
from portal.charts.boundaries import Point, Ring, Shape, box, extent
from portal.charts.projection import View, azimuthal, equal_earth

# The inhabited latitudes: nobody is counted on Antarctica.
_SOUTH, _NORTH = -56.0, 83.7
_TALLEST = 0.72
# About 40 km, in radii of the earth: no view is narrower.
_LEAST = 0.006


def world_view(width: float) -> View:
    edge, _ = equal_earth(180.0, 0.0)
    top, bottom = equal_earth(0.0, _NORTH)[1], equal_earth(0.0, _SOUTH)[1]
    # The corners of the world are empty: a little of the Pacific is left out.
    edge *= 0.955
    scale = width / (2 * edge)
    return View(equal_earth, -edge, top, scale, width, (bottom - top) * scale)


@lru_cache(maxsize=12)
def area_view(name: str, width: float) -> View:
    return _around(AREAS[name].edge, width)


def country_view(shape: Shape | None, points: Sequence[Point], width: float) -> View | None:
    """Around all points and the rings they lie on; None where there is neither."""
    rings = _rings(shape, points) if shape else []
    held = [*(point for ring in rings for point in ring), *points]
    return _around(held, width) if held else None


def _around(points: Sequence[Point], width: float) -> View:
    project = azimuthal(_middle(points))
    seen = [one for one in (project(*point) for point in points) if one]
    xs, ys = zip(*seen, strict=True)
    middle_x, middle_y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    across = max(max(xs) - min(xs), _LEAST) * 1.12
    down = max(max(ys) - min(ys), _LEAST) * 1.12
    height = width * min(max(down / across, 0.45), _TALLEST)
    scale = min(width / across, height / down)
    left, top = middle_x - width / scale / 2, middle_y - height / scale / 2
    return View(project, left, top, scale, width, height)


def _rings(shape: Shape, points: Sequence[Point]) -> list[Ring]:
    """Those with a point on them, or else the largest and what is no speck close to it."""
    touched = [ring for ring in shape.rings if _touches(ring, points)]
    if touched:
        return touched
    if points:
        return []
    x, y = shape.centre
    large = [ring for ring in shape.rings if extent(ring) >= 0.03 * extent(shape.largest)]
    return [ring for ring in large if math.dist((x, y), _centre(ring)) < 40]


def _touches(ring: Ring, points: Sequence[Point]) -> bool:
    west, south, east, north = box(ring)
    return any(west - 0.1 <= x <= east + 0.1 and south - 0.1 <= y <= north + 0.1 for x, y in points)


def _centre(ring: Ring) -> Point:
    west, south, east, north = box(ring)
    return (west + east) / 2, (south + north) / 2


def _middle(points: Sequence[Point]) -> Point:
    """The middle of the box around the points, on whichever side of the date line it is
    smaller."""
    ys = [y for _, y in points]
    plain = [x for x, _ in points]
    turned = [x % 360 for x in plain]
    xs = min(plain, turned, key=lambda some: max(some) - min(some))
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
