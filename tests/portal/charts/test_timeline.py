"""Lines over time: bands, gaps, names."""

from itertools import pairwise

import pytest

from portal.charts import Line, Mark, timeline
from tests.portal.charts.drawn import SVG, of_class, tooltips, tree, words

HIDDEN = Mark(None, note="too much noise")
WEEKS = ["2026-W43", "2026-W44", "2026-W45", "2026-W46"]
ABOUT = {"title": "Distance over time", "unit": "km"}


def line(name: str, *values: float | None) -> Line:
    return Line(name, tuple(HIDDEN if one is None else Mark(one, 1.0) for one in values))


def test_it_works() -> None:
    svg = timeline(WEEKS, [line("Lyon", 5, 6, 7, 8)], **ABOUT)
    (stroke,) = of_class(svg, "stroke")
    assert stroke.attrib["d"].count("L") == 3
    assert len(of_class(svg, "dot")) == 4
    assert tooltips(svg)[0] == "Lyon, 2026-W43: 5.0 ± 1.0 km"
    assert set(WEEKS) <= set(words(svg))


def test_a_line_has_a_gap_where_a_number_is_not_shown() -> None:
    svg = timeline(WEEKS, [line("Lyon", 5, 6, None, 8)], **ABOUT)
    (stroke,) = of_class(svg, "stroke")
    assert stroke.attrib["d"].count("L") == 1
    assert len([one for one in of_class(svg, "band") if one.tag == f"{SVG}path"]) == 2
    assert len(of_class(svg, "dot")) == 3
    assert "Lyon, 2026-W45: not shown: too much noise" in tooltips(svg)


def test_a_gap_of_one_line_among_others_is_a_ring_of_its_own() -> None:
    svg = timeline(WEEKS, [line("Lyon", 5, None, 7, 8), line("Nice", 1, 2, 2, 1)], **ABOUT)
    rings = [one for one in of_class(svg, "gap") if "s1" in one.attrib["class"]]
    assert len(rings) == 1
    assert not of_class(svg, "hidden")
    assert "not shown for one line" in words(svg)


def test_bands_reach_as_far_as_the_intervals_and_the_axis_holds_them() -> None:
    marks = (Mark(10.0, 4.0), Mark(-2.0, 4.0))
    svg = timeline(WEEKS[:2], [Line("Lyon", marks)], **ABOUT)
    band = next(one for one in of_class(svg, "band") if one.tag == f"{SVG}path")
    points = [
        [float(part) for part in point.split()] for point in band.attrib["d"][1:-1].split("L")
    ]
    heights = [y for _, y in points]
    assert heights[0] < heights[3]
    assert (heights[3] - heights[0]) == pytest.approx(heights[2] - heights[1], abs=0.2)
    assert "−5" in words(svg)


def test_names_stand_at_the_ends_without_touching() -> None:
    lines = [line(name, 5, 5, 5, 5) for name in ("Lyon", "Nice", "Metz")]
    svg = timeline(WEEKS, lines, **ABOUT)
    heights = sorted(float(one.attrib["y"]) for one in of_class(svg, "line-name"))
    assert len(heights) == 3
    assert min(b - a for a, b in pairwise(heights)) >= 15


def test_a_line_keeps_its_colour_whichever_others_are_drawn() -> None:
    lines = [Line("Lyon", (Mark(5.0), Mark(6.0)), 7), Line("Nice", (Mark(None), Mark(1.0)), 2)]
    for width, order in ((720, 1), (360, -1)):
        svg = timeline(WEEKS[:2], lines[::order], **ABOUT, width=width)
        strokes = [one for one in of_class(svg, "stroke") if "L" in one.attrib["d"]]
        assert [one.attrib["class"] for one in strokes] == ["stroke s2"]
        assert "stroke-dasharray" in strokes[0].attrib
        assert [one.attrib["class"] for one in of_class(svg, "gap")][-1] == "gap s3"


def test_a_narrow_drawing_has_a_legend_instead_and_fewer_ticks() -> None:
    weeks = [f"2026-W{number}" for number in range(10, 50)]
    lines = [line(name, *range(40)) for name in ("Lyon", "Nice")]
    svg = timeline(weeks, lines, **ABOUT, width=360)
    assert not of_class(svg, "line-name")
    assert {"Lyon", "Nice"} <= set(words(svg))
    assert 2 <= len([one for one in words(svg) if one.startswith("2026-W")]) <= 6
    assert weeks[-1] in words(svg)


def test_one_window_is_a_point_with_its_interval() -> None:
    svg = timeline(WEEKS[:1], [line("Lyon", 5)], **ABOUT)
    assert len(of_class(svg, "dot")) == 1
    assert not of_class(svg, "stroke")


@pytest.mark.parametrize("lines", [[], [line("Lyon", None, None, None, None)]])
def test_without_a_number_there_is_a_sentence(lines: list[Line]) -> None:
    svg = timeline(WEEKS, lines, **ABOUT)
    assert of_class(svg, "chart-empty")
    assert not list(tree(svg).iter(f"{SVG}circle"))
