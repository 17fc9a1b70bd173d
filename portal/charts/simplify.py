"""Lines with fewer points, after Visvalingam and Whyatt: the least triangle goes first."""

import heapq

Point = tuple[float, float]


def simplified(points: list[Point], smallest: float) -> list[Point]:
    """Without the points whose triangle with their neighbours is below `smallest`.

    The ends stay, and of a closed line two points between them: neighbours still meet, and an
    island remains an island.
    """
    before, after = list(range(-1, len(points) - 1)), list(range(1, len(points) + 1))
    heap = [(_triangle(*points[i - 1 : i + 2]), i) for i in range(1, len(points) - 1)]
    heapq.heapify(heap)
    areas = {index: size for size, index in heap}
    least = 4 if points[0] == points[-1] else 2
    while heap and len(areas) + 2 > least:
        size, index = heapq.heappop(heap)
        if areas.get(index) != size:
            continue
        if size >= smallest:
            break
        del areas[index]
        left, right = before[index], after[index]
        after[left], before[right] = right, left
        for near in (left, right):
            if near in areas:
                # Never less than what has gone: a point is not freed by its neighbour's end.
                grown = max(
                    size, _triangle(points[before[near]], points[near], points[after[near]])
                )
                areas[near] = grown
                heapq.heappush(heap, (grown, near))
    return [points[i] for i in range(len(points)) if i in areas or i in (0, len(points) - 1)]


def area(ring: list[Point]) -> float:
    turns = zip(ring, [*ring[1:], ring[0]], strict=True)
    return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in turns)) / 2


def _triangle(one: Point, two: Point, three: Point) -> float:
    doubled = (two[0] - one[0]) * (three[1] - one[1]) - (three[0] - one[0]) * (two[1] - one[1])
    return abs(doubled) / 2
