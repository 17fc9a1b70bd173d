"""Country outlines as SVG paths, projected once for each view of the world."""

from collections.abc import Iterable
from functools import lru_cache

from portal.charts.boundaries import Ring, Shape, near, world
from portal.charts.projection import View
from portal.charts.views import area_view, world_view

# Paths are whole numbers of this part of a pixel: short to write, fine enough to zoom in.
FINENESS = 5


@lru_cache(maxsize=4)
def world_paths(width: int) -> dict[str, str]:
    view = world_view(width)
    return {code: path_of(shape.rings, view) for code, shape in world().items()}


@lru_cache(maxsize=12)
def area_paths(name: str, width: int) -> dict[str, str]:
    return near_paths(near().values(), area_view(name, width))


@lru_cache(maxsize=32)
def country_paths(view: View) -> dict[str, str]:
    """A country and what is around it: whatever its map shows, it is seen in the same way."""
    return near_paths(near().values(), view)


def near_paths(shapes: Iterable[Shape], view: View) -> dict[str, str]:
    """Of those countries that are in sight."""
    found = {shape.code: path_of(_visible(shape, view), view) for shape in shapes}
    return {code: path for code, path in found.items() if path}


def path_of(rings: Iterable[Ring], view: View) -> str:
    return "".join(_ring(ring, view) for ring in rings)


def _visible(shape: Shape, view: View) -> list[Ring]:
    """Rings of which some point lies in the view, or near it."""
    reach = 0.6 * max(view.width, view.height)
    return [
        ring
        for ring in shape.rings
        if any(at and view.holds(*at, margin=reach) for at in (view.at(*one) for one in ring[::4]))
    ]


def _ring(ring: Ring, view: View) -> str:
    """Relative steps, without those that are too small to be seen."""
    steps: list[str] = []
    last: tuple[int, int] | None = None
    for point in ring:
        found = view.at(*point)
        if found is None:
            continue
        at = round(FINENESS * found[0]), round(FINENESS * found[1])
        if last is None:
            steps.append(f"M{at[0]} {at[1]}l")
        elif at != last:
            steps.append(_pair(at[0] - last[0], at[1] - last[1]))
        last = at
    return "".join(steps).replace("l ", "l") + "z" if len(steps) > 2 else ""


def _pair(x: int, y: int) -> str:
    """A minus sign needs no blank before it."""
    return f"{x if x < 0 else f' {x}'}{y if y < 0 else f' {y}'}"
