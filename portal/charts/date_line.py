"""Rings that cross the date line, cut there: on a map of the world both sides have their own."""

from collections.abc import Iterable, Sequence

Point = tuple[float, float]


def cut_at_date_line(ring: Sequence[Point]) -> Iterable[tuple[Point, ...]]:
    """The parts of the ring within 180° west and east; mostly that is the ring itself."""
    whole = _unwound(ring)
    if all(-180 <= x <= 180 for x, _ in whole):
        yield tuple(whole)
        return
    for turn in (-360, 0, 360):
        turned = [(x + turn, y) for x, y in whole]
        part = _east_of(_mirrored(_east_of(_mirrored(turned), -180)), -180)
        if part:
            yield tuple(part)


def _unwound(ring: Sequence[Point]) -> list[Point]:
    """The same ring with longitudes that never jump around the earth."""
    points, turn, last = [], 0, ring[0][0]
    for x, y in ring:
        if abs(x - last) > 180:
            turn += 360 if x < last else -360
        last = x
        points.append((x + turn, y))
    return points


def _mirrored(ring: Iterable[Point]) -> list[Point]:
    return [(-x, y) for x, y in ring]


def _east_of(ring: Sequence[Point], limit: float) -> list[Point]:
    """What lies east of a meridian, after Sutherland and Hodgman."""
    kept: list[Point] = []
    for (ax, ay), (bx, by) in zip([*ring[-1:], *ring[:-1]], ring, strict=True):
        if (ax < limit) != (bx < limit):
            kept.append((limit, ay + (by - ay) * (limit - ax) / (bx - ax)))
        if bx >= limit:
            kept.append((bx, by))
    return kept
