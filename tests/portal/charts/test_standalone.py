"""Charts that leave the page: all they need is in them."""

import re

import pytest

from portal.charts import (
    Group,
    Line,
    Mark,
    histogram,
    standalone,
    timeline,
    world_map,
)
from tests.portal.charts.drawn import SVG, of_class, tree

CHARTS = {
    "histogram": histogram([Group("a", (Mark(1.0, 0.1), Mark(None)))], ["x", "y"],
                           title="t", unit="km"),
    "timeline": timeline(["a", "b"], [Line("x", (Mark(1.0, 0.1), Mark(None)))],
                         title="t", unit="km"),
    "map": world_map({"FR": Mark(1.0), "DE": Mark(None)}, [], title="t", unit="km"),
    "sentence": histogram([], [], title="t", unit="km"),
}  # fmt: skip


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("chart", CHARTS)
def test_every_colour_is_written_out(chart: str, dark: bool) -> None:
    svg = standalone(CHARTS[chart], dark=dark)
    (style,) = tree(svg).iter(f"{SVG}style")
    assert not re.search(r"var\(|light-dark|--", style.text or "")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|src=", svg)
    assert of_class(svg, "chart-ground")


@pytest.mark.parametrize("chart", CHARTS)
def test_below_it_stands_where_it_comes_from(chart: str) -> None:
    plain, told = (tree(standalone(CHARTS[chart], source=one)) for one in ("", "From <us>. " * 30))
    assert "From <us>." in "".join(told.itertext())
    assert float(told.attrib["height"]) > float(plain.attrib["height"]) + 16
    last = list(told)[-1]
    assert float(last.attrib["y"]) < float(told.attrib["height"]) - 2 * 16


def test_light_and_dark_differ_in_colours_only() -> None:
    light, dark = (standalone(CHARTS["map"], dark=dark) for dark in (False, True))
    assert light != dark
    assert re.sub(r"<style>.*?</style>", "", light) == re.sub(r"<style>.*?</style>", "", dark)


@pytest.mark.parametrize("chart", CHARTS)
def test_every_class_of_a_drawing_has_its_styles(chart: str) -> None:
    plain = {
        "mark",
        "chart-legend",
        "map-legend",
        "places",
        "map-stage",
        "chart-map",
        "wide-map",
        "chart-label",
    }
    svg = standalone(CHARTS[chart])
    (style,) = tree(svg).iter(f"{SVG}style")
    styled = set(re.findall(r"\.([a-z][\w-]*)", style.text or ""))
    used = {name for one in tree(svg).iter() for name in one.attrib.get("class", "").split()}
    assert used - plain <= styled


def test_it_has_a_margin() -> None:
    root = tree(standalone(CHARTS["map"]))
    assert root.attrib["viewBox"].startswith("-16 -16 752 ")
    assert root.attrib["width"] == "752"
