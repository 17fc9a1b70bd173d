"""Bars: what is drawn, what is said, and what is never drawn."""

import math
from dataclasses import replace

import pytest

from portal.charts import Group, Mark, fitted, histogram
from tests.portal.charts.drawn import SVG, of_class, tooltips, tree, words

HIDDEN = Mark(None, note="too few devices")
CITIES = [
    Group("Lyon", (Mark(12.4e6, 0.3e6, href="/places/1"),)),
    Group("Grenoble", (HIDDEN,)),
    Group("Nice", (Mark(3.1e6, 0.25e6),)),
]
ABOUT = {"title": "Distance by place", "unit": "km"}


def bars(svg: str, series: int = 1) -> list[dict[str, str]]:
    """The bars of a series, without its entry in the legend."""
    found = [one.attrib for one in of_class(svg, f"s{series}") if one.tag == f"{SVG}rect"]
    return [one for one in found if "rx" not in one]


def test_it_works() -> None:
    svg = histogram(CITIES, ["distance"], **ABOUT)
    assert len(bars(svg)) == 2
    assert tooltips(svg) == [
        "Lyon: 12.40 ± 0.30 million km",
        "Grenoble: not shown: too few devices",
        "Nice: 3.10 ± 0.25 million km",
    ]
    assert {"Distance by place", "Lyon", "12.40 ± 0.30 M", "million km"} <= set(words(svg))


def test_it_names_itself_to_screen_readers() -> None:
    root = tree(histogram(CITIES, ["distance"], **ABOUT))
    texts = {one.attrib["id"]: one.text for one in root if one.tag in (f"{SVG}title", f"{SVG}desc")}
    assert texts[root.attrib["aria-labelledby"]] == "Distance by place"
    assert "1 of 3 numbers are not shown" in (texts[root.attrib["aria-describedby"]] or "")


def test_the_same_chart_is_the_same_text_and_another_has_other_ids() -> None:
    def ids(svg: str) -> set[str]:
        return {one.attrib["id"] for one in tree(svg).iter() if "id" in one.attrib}

    one = histogram(CITIES, ["distance"], **ABOUT)
    assert one == histogram(list(CITIES), ["distance"], **ABOUT)
    others = [
        histogram(CITIES, ["distance"], **ABOUT, width=360),
        histogram(CITIES, ["distance"], **ABOUT, name="second"),
        histogram(CITIES[:1], ["distance"], **ABOUT),
        histogram(CITIES, ["distance"], **ABOUT, log=True),
    ]
    for other in others:
        assert not ids(one) & ids(other)


def test_a_bar_is_as_long_as_its_value_and_its_interval_lies_around_its_end() -> None:
    svg = histogram(CITIES, ["distance"], **ABOUT)
    long, short = (float(bar["width"]) for bar in bars(svg))
    assert math.isclose(long / short, 12.4 / 3.1, rel_tol=0.01)
    _, *whiskers = (one.attrib["d"] for one in of_class(svg, "whisker"))
    start, end = whiskers[0].split("M")[1].split("H")
    middle = float(bars(svg)[0]["x"]) + long
    assert math.isclose((float(start.split()[0]) + float(end)) / 2, middle, abs_tol=0.2)


def test_what_is_not_shown_is_hatched_over_the_whole_axis_and_no_bar() -> None:
    svg = histogram(CITIES, ["distance"], **ABOUT)
    (hatched,) = [one for one in of_class(svg, "hidden") if "rx" not in one.attrib]
    assert hatched.attrib["fill"].startswith("url(#chart-")
    assert float(hatched.attrib["width"]) > max(float(bar["width"]) for bar in bars(svg))
    assert words(svg).count("not shown") == 2  # beside the row, and in the legend


def test_negative_values_lie_left_of_zero() -> None:
    groups = [Group("up", (Mark(50.0, 5.0),)), Group("down", (Mark(-30.0, 5.0),))]
    svg = histogram(groups, ["change"], title="Change", unit="trips")
    up, down = bars(svg)
    assert math.isclose(float(down["x"]) + float(down["width"]), float(up["x"]), abs_tol=0.2)
    assert "down: −30.0 ± 5.0 trips" in tooltips(svg)


def test_a_value_of_zero_is_drawn_and_not_hatched() -> None:
    svg = histogram([Group("a", (Mark(0.0, 2.0),)), Group("b", (Mark(9.0),))], ["n"], **ABOUT)
    assert len(bars(svg)) == 2
    assert not of_class(svg, "hidden")


@pytest.mark.parametrize(
    ("value", "shown"), [(3.44e9, "3.44 bn"), (-8.1e12, "−8.1 tn"), (0.00031, "0.00031")]
)
def test_huge_and_tiny_values_are_written_short(value: float, shown: str) -> None:
    svg = histogram([Group("a", (Mark(value),))], ["n"], **ABOUT)
    assert shown in words(svg)


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_not_shown(broken: float) -> None:
    groups = [Group("a", (Mark(broken, 1.0),)), Group("b", (Mark(2.0, math.inf),))]
    svg = histogram(groups, ["n"], **ABOUT)
    assert len(bars(svg)) == 1
    assert "b: 2 ± ∞ km" in tooltips(svg)
    assert "nan" not in svg
    assert '"inf' not in svg


def test_a_log_axis_says_what_it_cannot_hold() -> None:
    groups = [*CITIES, Group("Metz", (Mark(-40.0, 90.0),)), Group("Brest", (Mark(4e3, 9e3),))]
    svg = histogram(groups, ["distance"], **ABOUT, log=True)
    assert "≤ 0, not on a log axis" in words(svg)
    assert any(one.startswith("Values of zero or less") for one in words(svg))
    assert [one for one in words(svg) if one in ("1,000", "10 k", "1 M", "100 M")]
    assert len(list(tree(svg).iter(f"{SVG}circle"))) == 3
    assert "Metz: −40 ± 90 km" in tooltips(svg)


def test_shares_are_of_the_sum_with_intervals_that_know_it_is_uncertain() -> None:
    groups = [Group("a", (Mark(75.0, 3.0),)), Group("b", (Mark(25.0, 3.0),)), Group("c", (HIDDEN,))]
    svg = histogram(groups, ["n"], **ABOUT, share=True)
    # 0.25 · 3 and 0.75 · 3, added as independent, over a sum of 100
    assert "a: 75.0 ± 2.4 % (of what is shown)" in tooltips(svg)
    assert "Share of the sum, as far as it is shown." in words(svg)


def test_shares_can_be_of_a_total_that_knows_what_is_not_shown() -> None:
    svg = histogram(CITIES, ["n"], **ABOUT, share=True, totals=[Mark(124e6, 1e6)])
    assert "Lyon: 10.00 ± 0.26 %" in tooltips(svg)
    assert "Share of the sum." in words(svg)


def test_shares_of_nothing_are_not_shown() -> None:
    groups = [Group("a", (Mark(-75.0, 3.0),)), Group("b", (Mark(25.0, 3.0),))]
    assert "the sum is not above zero" in histogram(groups, ["n"], **ABOUT, share=True)


STACK = [
    Group("Lyon", (Mark(6.0, 3.0), Mark(4.0, 4.0))),
    Group("Nice", (Mark(3.0, 1.0), HIDDEN)),
    Group("Metz", (HIDDEN, HIDDEN)),
]


def test_stacked_bars_follow_each_other_and_their_sum_has_an_interval() -> None:
    svg = histogram(STACK, ["in", "out"], **ABOUT, stacked=True)
    first, second = bars(svg, 1)[0], bars(svg, 2)[0]
    assert math.isclose(float(first["x"]) + float(first["width"]), float(second["x"]), abs_tol=0.2)
    assert "10.0 ± 5.0" in words(svg)
    assert "Nice: not shown: out" in tooltips(svg)
    assert "Metz: not shown: too few devices" in tooltips(svg)


def test_a_sum_that_is_told_stands_beside_its_stack() -> None:
    told = [replace(STACK[0], total=Mark(10.0, 7.0)), *STACK[1:]]
    svg = histogram(told, ["in", "out"], **ABOUT, stacked=True)
    assert {"10.0 ± 7.0", "3.0 ± 1.0"} <= set(words(svg))


def test_a_share_has_no_use_for_a_sum_that_is_told() -> None:
    """The stub for what is not shown stands behind the bar, and not behind that sum."""
    told = [replace(one, total=Mark(1e6, 7.0)) for one in STACK]
    drawn = [
        histogram(groups, ["in", "out"], **ABOUT, stacked=True, share=True)
        for groups in (STACK, told)
    ]
    plain, other = ([one.attrib["x"] for one in of_class(svg, "hidden")] for svg in drawn)
    assert plain == other


def test_stacked_bars_have_no_log_axis_and_say_so() -> None:
    svg = histogram(STACK, ["in", "out"], **ABOUT, stacked=True, log=True)
    assert "Stacked bars have no log axis: this one is linear." in words(svg)


def test_stacked_shares_fill_their_bar() -> None:
    svg = histogram(STACK, ["in", "out"], **ABOUT, stacked=True, share=True)
    assert "Lyon, in: 60 ± 27 %" in tooltips(svg)
    assert "Nice, in: 100 ± 0 % (of what is shown)" in tooltips(svg)
    assert "100" in words(svg)


def test_series_beyond_the_colours_are_striped() -> None:
    names = [f"n{index}" for index in range(9)]
    svg = histogram([Group("a", tuple(Mark(1.0) for _ in names))], names, **ABOUT)
    striped = [one for one in tree(svg).iter() if one.attrib.get("fill", "").endswith("-stripe)")]
    assert len(striped) == 2 * 3  # bars, and entries of the legend
    assert set(names) <= set(words(svg))


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        ([], "There is nothing to draw: no number fits what was asked for."),
        ([CITIES[1]], "This number is not shown: too few devices."),
        ([CITIES[1]] * 4, "None of these 4 numbers is shown: too few devices."),
    ],
)
def test_without_a_number_there_is_a_sentence(groups: list[Group], sentence: str) -> None:
    svg = histogram(groups, ["n"], **ABOUT)
    assert sentence in words(svg)
    assert not bars(svg)


def test_on_a_narrow_drawing_labels_stand_above_and_nothing_leaves_it() -> None:
    label = "Villeneuve-d'Ascq-sur-la-Rivière-Longue"
    groups = [Group(label, (Mark(1.0, 0.2),)), *CITIES]
    svg = histogram(groups, ["n"], **ABOUT, width=360)
    assert tree(svg).attrib["viewBox"].startswith("0 0 360 ")
    assert any(one.endswith("…") for one in words(svg))
    assert f"{label}: 1.00 ± 0.20 km" in tooltips(svg)
    for one in tree(svg).iter(f"{SVG}rect"):
        assert float(one.attrib["x"]) + float(one.attrib["width"]) <= 361


def test_fitted_charts_come_wide_and_narrow() -> None:
    both = fitted(lambda width: histogram(CITIES, ["n"], **ABOUT, width=width))
    assert both.count("<svg") == 2
    assert 'class="chart-narrow"' in both


def test_a_group_of_one_bar_is_one_link() -> None:
    svg = histogram([Group("Lyon", (Mark(1.0),), href="/places/1")], ["n"], **ABOUT)
    (link,) = tree(svg).iter(f"{SVG}a")
    assert link.attrib["href"] == "/places/1"
    assert "Lyon" in [one.text for one in link.iter(f"{SVG}text")]


def test_small_multiples_share_one_axis() -> None:
    panels = [(name, [Group("a", (Mark(size, 1.0),))]) for name, size in [("x", 10.0), ("y", 40.0)]]
    svg = histogram(panels, ["n"], **ABOUT)
    small, large = (float(bar["width"]) for bar in bars(svg))
    assert math.isclose(large / small, 4, rel_tol=0.01)
    assert {"x", "y"} <= set(words(svg))
    assert words(svg).count("km") == 2


def test_a_folded_chart_has_no_row_for_what_is_not_shown() -> None:
    groups = [
        Group("driving", (Mark(9.0, 1.0), HIDDEN, Mark(4.0, 1.0))),
        Group("flying", (HIDDEN, HIDDEN, HIDDEN)),
        Group("walking", (Mark(3.0, 1.0), HIDDEN, HIDDEN)),
    ]
    svg = histogram(groups, ["within", "in", "out"], **ABOUT, folded=True)
    assert tooltips(svg) == [
        "driving, within: 9.0 ± 1.0 km",
        "driving, out: 4.0 ± 1.0 km",
        "walking, within: 3.0 ± 1.0 km",
    ]
    assert not {"flying", "in", "not shown"} & set(words(svg))
    assert not of_class(svg, "hidden")
    whole = tree(histogram(groups, ["within", "in", "out"], **ABOUT))
    assert int(tree(svg).attrib["height"]) < int(whole.attrib["height"])


def test_a_folded_chart_of_nothing_says_so() -> None:
    svg = histogram([Group("flying", (HIDDEN,))], ["distance"], **ABOUT, folded=True)
    assert "This number is not shown: too few devices." in " ".join(words(svg))
