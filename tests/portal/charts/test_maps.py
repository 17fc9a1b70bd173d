"""Maps: countries, places, what is not shown, and their size."""

import re

import pytest

from portal.charts import AREAS, Mark, Place, Shade, in_sight, world_map
from portal.charts.boundaries import near, world
from portal.charts.outlines import country_paths
from portal.charts.views import country_view
from tests.portal.charts.drawn import SVG, of_class, tooltips, tree, words

HIDDEN = Mark(None, note="too few devices")
ABOUT = {"title": "Distance", "unit": "km"}
CHANGE = "change against the week before"
LYON = Place("Lyon, FR", 45.75, 4.85, Mark(12.4e6, 0.21e6, href="/places/2996944"))
NICE = Place("Nice, FR", 43.70, 7.27, Mark(3.1e6, 0.2e6))
METZ = Place("Metz, FR", 49.12, 6.17, HIDDEN)


def circles(svg: str, kind: str) -> list[dict[str, str]]:
    """Of the places, without the legend's."""
    (places,) = of_class(svg, "places")
    found = list(places.iter(f"{SVG}circle"))
    return [one.attrib for one in found if kind in one.attrib["class"].split()]


def changes(colours: dict[str, Shade], places: list[Place]) -> str:
    countries = {"FR": Mark(12.0, 1.0)}
    asked = {"colours": colours, "colour_title": "change", "diverging": True, **ABOUT}
    return world_map(countries, places, **asked)


def test_it_works() -> None:
    svg = world_map({"FR": Mark(12.4e6, 0.21e6), "DE": Mark(2e6, 0.2e6)}, [LYON], **ABOUT)
    assert "France: 12.40 ± 0.21 million km" in tooltips(svg)
    assert "Lyon, FR: 12.40 ± 0.21 million km" in tooltips(svg)
    assert of_class(svg, "q7")
    assert of_class(svg, "q1")
    (link,) = tree(svg).iter(f"{SVG}a")
    assert link.attrib["href"] == "/places/2996944"


def test_a_country_that_is_not_shown_is_hatched_with_its_reason() -> None:
    svg = world_map({"FR": Mark(5.0, 1.0), "DE": HIDDEN}, [], **ABOUT)
    assert "Germany: not shown: too few devices" in tooltips(svg)
    hatched = [one for one in of_class(svg, "hidden") if one.tag == f"{SVG}path"]
    assert len(hatched) == 1
    assert "not shown" in words(svg)


def test_a_place_that_is_not_shown_is_a_ring_and_never_a_disc() -> None:
    svg = world_map({}, [LYON, METZ], **ABOUT)
    assert len(circles(svg, "point")) == 1
    assert len(circles(svg, "ring")) == 1
    assert "Metz, FR: not shown: too few devices" in tooltips(svg)


def test_areas_of_discs_stand_for_values() -> None:
    small = Place("b", 40.0, 0.0, Mark(25.0))
    svg = world_map({}, [Place("a", 0.0, 0.0, Mark(100.0)), small], **ABOUT)
    large, half = (float(one["r"]) for one in circles(svg, "point"))
    assert large / half == pytest.approx(2.0, rel=0.01)


@pytest.mark.parametrize("value", [0.0, -5.0])
def test_a_value_of_zero_or_less_is_the_smallest_disc(value: float) -> None:
    svg = world_map({}, [LYON, Place("x", 0.0, 0.0, Mark(value, 9.0))], **ABOUT)
    assert min(float(one["r"]) for one in circles(svg, "point")) == pytest.approx(2.2)


def test_colours_are_shares_or_changes_once_they_are_given() -> None:
    less = Place("a", 45.0, 5.0, Mark(3.0, 1.0), Shade(-50.0, 14.0))
    svg = changes({"FR": Shade(40.0, 15.0)}, [less, Place("b", 40.0, 0.0, Mark(2.0))])
    assert "France: 12.0 ± 1.0 km; change +40 ± 15 %" in tooltips(svg)
    assert "a: 3.0 ± 1.0 km; change −50 ± 14 %" in tooltips(svg)
    assert "change" in words(svg)
    assert "within the noise" not in words(svg)
    assert "d2" in circles(svg, "point")[0]["class"]


@pytest.mark.parametrize(("value", "said"), [(0.3, "0 ± 14"), (-0.3, "0 ± 14"), (0.6, "+1 ± 14")])
def test_a_change_that_rounds_to_zero_has_no_sign(value: float, said: str) -> None:
    svg = changes({"FR": Shade(value, 14.0, is_noise=True)}, [])
    assert f"France: 12.0 ± 1.0 km; change {said} %, within the noise" in tooltips(svg)


def test_a_change_within_the_noise_is_hollow_and_the_legend_says_so() -> None:
    noise = Shade(130.0, 140.0, is_noise=True)
    less = Place("a", 45.0, 5.0, Mark(3.0, 1.0), Shade(-50.0, 14.0))
    svg = changes({"FR": noise}, [less, Place("b", 40.0, 0.0, Mark(2.0), noise)])
    assert "France: 12.0 ± 1.0 km; change +130 ± 140 %, within the noise" in tooltips(svg)
    assert "within the noise" in words(svg)
    assert [one["class"] for one in circles(svg, "noise")] == ["point noise"]
    (path,) = (one for one in of_class(svg, "noise") if one.tag == f"{SVG}path")
    assert path.attrib["fill"].endswith("-wide-dots)")
    # What is no more than noise does not stretch the colours of what is.
    assert "20 %" in words(svg)


def test_where_every_change_is_within_the_noise_nothing_has_a_colour() -> None:
    noise = Shade(130.0, 140.0, is_noise=True)
    svg = changes({"FR": noise}, [])
    assert not any(of_class(svg, f"{kind}{step}") for kind in "dq" for step in range(1, 8))


def test_a_place_with_nothing_to_compare_with_looks_like_no_change_at_all() -> None:
    svg = changes({"FR": Shade(40.0, 15.0)}, [Place("b", 40.0, 0.0, Mark(2.0))])
    assert [one["class"] for one in circles(svg, "point")] == ["point unknown"]
    assert "no comparison" in words(svg)


def test_without_any_change_values_are_coloured_from_little_to_much() -> None:
    countries = {"FR": Mark(12.0, 1.0), "DE": Mark(2.0, 1.0)}
    svg = world_map(countries, [], diverging=True, **ABOUT)
    assert of_class(svg, "q7")
    assert not of_class(svg, "d7")


def test_uncertain_marks_are_fainter_only_when_asked() -> None:
    places = [LYON, Place("x", 0.0, 0.0, Mark(10.0, 9.0))]
    assert not circles(world_map({}, places, **ABOUT), "f3")
    svg = world_map({}, places, uncertainty=True, **ABOUT)
    assert len(circles(svg, "f3")) == 1
    assert any(one.startswith("fainter") for one in words(svg))


@pytest.mark.parametrize("code", ["FR", "US", "RU", "FJ", "NZ", "SG", "GF", "MT", "XK", "CL"])
def test_a_country_can_be_seen_from_near_by(code: str) -> None:
    x, y = near()[code].largest[0]
    svg = world_map({}, [Place("here", y, x, Mark(5.0, 1.0))], within=code, **ABOUT)
    assert len(circles(svg, "point")) == 1
    assert of_class(svg, "home")


def test_near_by_a_country_all_its_places_are_there() -> None:
    places = [LYON, NICE, METZ, Place("Ajaccio", 41.92, 8.73, Mark(1e5, 2e4))]
    svg = world_map({}, places, within="FR", **ABOUT)
    stage = of_class(svg, "map-stage")[0].attrib
    for one in (*circles(svg, "point"), *circles(svg, "ring")):
        assert 0 <= float(one["cx"]) <= float(stage["width"])
        assert 0 <= float(one["cy"]) <= float(stage["height"])


def test_near_by_a_country_it_is_the_ground_and_its_number_is_told() -> None:
    svg = world_map({"FR": Mark(16e6, 2.1e5)}, [LYON, NICE], within="FR", **ABOUT)
    assert len(of_class(svg, "home")) == 1
    assert "France: 16.00 ± 0.21 million km" in tooltips(svg)
    assert not of_class(svg, "q5")


def test_a_country_without_an_outline_is_shown_by_its_places() -> None:
    svg = world_map({}, [Place("Fakaofo", -9.38, -171.2, Mark(5.0, 1.0))], within="TK", **ABOUT)
    assert len(circles(svg, "point")) == 1


@pytest.mark.parametrize("area", AREAS)
def test_a_continent_can_be_seen_from_nearer_by_than_the_world(area: str) -> None:
    west, south, east, north = AREAS[area].box
    there = Place("there", (south + north) / 2, (west + east) / 2, Mark(5.0, 1.0))
    away = Place("away", -(south + north) / 2 - 10, (west + east) / 2 + 150, Mark(5.0, 1.0))
    svg = world_map({"FR": Mark(1.0)}, [there, away], within=area, **ABOUT)
    assert len(circles(svg, "point")) == 1
    assert in_sight(area, there.longitude, there.latitude)
    assert not in_sight(area, away.longitude, away.latitude)
    assert len(svg.encode()) < 200_000


def test_an_unknown_country_is_the_world() -> None:
    svg = world_map({"FR": Mark(1.0)}, [], within="??", **ABOUT)
    assert "France: 1 km" in tooltips(svg)


def test_small_states_are_dots_on_the_world() -> None:
    svg = world_map({"SG": Mark(5.0, 1.0), "MT": HIDDEN}, [], **ABOUT)
    assert len(of_class(svg, "state")) == 2
    assert "Singapore: 5.0 ± 1.0 km" in tooltips(svg)


@pytest.mark.parametrize(
    ("marks", "sentence"),
    [
        ({}, "There is nothing to draw: no number fits what was asked for."),
        ({"FR": HIDDEN, "DE": HIDDEN}, "None of these 2 numbers is shown: too few devices."),
    ],
)
def test_without_a_number_there_is_a_sentence(marks: dict[str, Mark], sentence: str) -> None:
    assert sentence in words(world_map(marks, [], **ABOUT))


def many(count: int) -> list[Place]:
    return [
        Place(
            f"Saint-Somewhere {index}, FR",
            -50 + index * 110 / count,
            -170 + index * 37 % 340,
            Mark(1e6 + 997 * index, 2e4, href=f"/places/{2_900_000 + index}")
            if index % 5
            else Mark(None, note="its noise is more than 10 % of it", href=f"/places/{index}"),
            Shade(index % 31 - 15.0, 4.0, is_noise=index % 3 == 0),
        )
        for index in range(count)
    ]


def test_the_world_with_two_thousand_places_is_below_410_kilobytes() -> None:
    countries = {code: Mark(1e6, 2e4, href=f"/countries/{code}") for code in world()}
    svg = world_map(countries, many(2000), colour_title=CHANGE, diverging=True, **ABOUT)
    assert len(svg.encode()) < 410_000
    assert len(circles(svg, "point")) == 1600
    assert "its noise is more than 10 % of it" in (tree(svg)[1].text or "")


def test_the_same_map_is_the_same_text() -> None:
    one = world_map({"FR": Mark(1.0), "DE": Mark(2.0)}, many(40), **ABOUT)
    assert one == world_map({"DE": Mark(2.0), "FR": Mark(1.0)}, many(40), **ABOUT)


def test_no_outline_leaps_over_the_world() -> None:
    svg = world_map({"RU": Mark(1.0), "FJ": Mark(2.0)}, [], **ABOUT)
    for path in of_class(svg, "countries")[0].iter(f"{SVG}path"):
        steps = re.findall(r"(?<=[l ])-?\d+", re.sub(r"M[^l]*l", "l", path.attrib["d"]))
        assert max(abs(int(step)) for step in steps) < 1000


@pytest.mark.parametrize(
    ("least", "largest", "told"),
    [
        (7_600, 10_900, {"10,000", "8,000"}),
        (7_600, 7_600, {"7,600"}),
        (10, 10_900, {"5,000", "1,000"}),
    ],
)
def test_the_legend_has_sizes_that_the_map_has(
    least: float, largest: float, told: set[str]
) -> None:
    places = [Place("a", 45.0, 5.0, Mark(least, 1.0)), Place("b", 50.0, 5.0, Mark(largest, 1.0))]
    keys = of_class(world_map({}, places, title="Trips", unit="trips"), "map-key")
    assert {one.text for one in keys} == {"trips", *told}


def test_the_only_colour_of_a_map_has_its_range_beside_it() -> None:
    places = [
        Place("a", 45.0, 5.0, Mark(9.0, 1.0), Shade(6.71, 1.9)),
        Place("b", 50.0, 5.0, Mark(8.0, 1.0), Shade(9.08, 2.2)),
    ]
    svg = world_map({}, places, title="Trips", unit="trips", colour_title="Share in %")
    assert "6.7 to 9.1 %" in words(svg)


def test_the_world_is_wide_and_a_country_is_not() -> None:
    place = Place("Oulu", 65.0, 25.5, Mark(3.0, 1.0))
    assert "wide-map" in world_map({}, [place], **ABOUT)
    assert "wide-map" not in world_map({}, [place], **ABOUT, within="FI")


def test_a_country_is_seen_in_the_same_way_whatever_its_map_shows():
    """Its outlines are drawn once."""
    paris, lyon, nice = (2.35, 48.85), (4.83, 45.76), (7.27, 43.70)
    first, again = (
        country_view(near()["FR"], some, 960.0) for some in ([paris, lyon], [lyon, nice])
    )
    assert first == again
    assert country_paths(first) is country_paths(again)
    assert country_view(near()["DE"], [(11.6, 48.1)], 960.0) != first


def test_points_of_the_world_are_smaller_than_those_of_a_country():
    sizes = [
        max(
            float(one["r"])
            for one in circles(world_map({}, [LYON, NICE], within=within, **ABOUT), "point")
        )
        for within in ("", "FR")
    ]
    assert sizes == [12.0, 20.0]


def names(svg: str) -> dict[str, dict[str, str]]:
    """What is written beside discs."""
    return {str(one.text): one.attrib for one in of_class(svg, "place-name")}


def test_a_name_stands_on_no_other_disc() -> None:
    chicago = Place("Chicago, US", 41.85, -87.65, Mark(9_800.0, 900.0))
    york = Place("New York City, US", 40.71, -74.0, Mark(9_400.0, 900.0))
    found = names(world_map({}, [chicago, york], **ABOUT))
    assert found["Chicago"]["text-anchor"] == "end"
    assert "text-anchor" not in found["New York City"]


def test_a_place_between_two_others_has_no_name() -> None:
    row = [("Curitiba", -49.27), ("São Paulo", -46.64), ("Rio de Janeiro", -43.2)]
    places = [
        Place(f"{name}, BR", -23.55, longitude, Mark(1e4, 9e2, href=f"/places/{index}"))
        for index, (name, longitude) in enumerate(row)
    ]
    assert set(names(world_map({}, places, **ABOUT))) == {"Curitiba", "Rio de Janeiro"}


def test_much_smaller_discs_leave_a_large_one_its_name() -> None:
    around = [
        Place(f"Village {index}, FR", 48.0 + index % 5 * 0.5, 2.0 + index / 10, Mark(10.0, 1.0))
        for index in range(30)
    ]
    svg = world_map({}, [Place("Paris, FR", 48.85, 2.35, Mark(1e6, 1e3)), *around], **ABOUT)
    assert "Paris" in names(svg)
