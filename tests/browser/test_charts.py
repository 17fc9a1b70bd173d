"""Charts in a real browser, with the site's own styles, script and policy."""

import pytest
from playwright.sync_api import Locator, Page, expect

from portal.charts import (
    Group,
    Line,
    Mark,
    Place,
    Shade,
    fitted,
    histogram,
    timeline,
    world_map,
)
from tests.browser.conftest import axe_clean, fits
from tests.browser.screens import PHONE
from tests.parts import Site
from tests.portal.charts.drawn import tree, words

HIDDEN = Mark(None, note="too few devices")
GROUPS = [
    Group("Lyon", (Mark(12.4e6, 0.3e6), Mark(2e6, 0.2e6)), href="/streams/"),
    Group("Grenoble", (HIDDEN, Mark(1e6, 0.1e6))),
]
LINES = [Line("Lyon", (Mark(3.0, 0.2), HIDDEN, Mark(4.0, 0.2))),
         Line("Nice", (Mark(1.0, 0.2), Mark(1.5, 0.1), Mark(2.0, 0.2)))]  # fmt: skip
PLACES = [
    Place("Lyon, FR", 45.75, 4.85, Mark(12.4e6, 0.3e6), Shade(3.0, 1.0)),
    Place("Nice, FR", 43.7, 7.27, Mark(3e6, 0.3e6), Shade(-10.0, 12.0, is_noise=True)),
    Place("Metz, FR", 49.12, 6.17, HIDDEN),
]
COUNTRIES = {"FR": Mark(12e6, 1e5), "DE": HIDDEN, "BR": Mark(4e5, 1e4), "SG": Mark(2e5, 1e4)}
PAGE = """<!doctype html><html lang="en"><head><title>Charts</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/static/css/tokens.css">
<link rel="stylesheet" href="/static/css/base.css">
<link rel="stylesheet" href="/static/css/charts.css"></head>
<body><main><h1>Charts</h1>{figures}</main>
<script type="module" src="/static/js/charts.js"></script></body></html>"""
FIGURE = """<figure class="chart-card" aria-label="{name}">{chart}
<button data-chart-png data-source="A source" hidden>PNG of {name}</button>
<button data-chart-svg data-source="A source" hidden>SVG of {name}</button></figure>"""


def charts() -> dict[str, str]:
    def bars(width: int) -> str:
        return histogram(GROUPS, ["in", "out"], title="Distance by place", unit="km", width=width)

    def lines(width: int) -> str:
        return timeline(
            ["W44", "W45", "W46"], LINES, title="Over time", unit="km", width=width, heading=False
        )

    return {
        "bars": fitted(bars),
        "lines": fitted(lines),
        "world": world_map(COUNTRIES, [], title="By country", unit="km"),
        "country": world_map(
            {}, PLACES, title="France", unit="km", colour_title="change", diverging=True,
            within="FR", uncertainty=True,
        ),
    }  # fmt: skip


@pytest.fixture
def gallery(page: Page, site: Site) -> Page:
    """All charts on one page of the site, under its policy."""
    policy = page.request.get("/docs/").headers["content-security-policy"]
    figures = "".join(FIGURE.format(name=name, chart=chart) for name, chart in charts().items())
    page.route(
        f"{site.url}/gallery",
        lambda route: route.fulfill(
            body=PAGE.format(figures=figures),
            content_type="text/html; charset=utf-8",
            headers={"Content-Security-Policy": policy},
        ),
    )
    page.goto("/gallery")
    expect(page.get_by_role("button", name="PNG of bars")).to_be_visible()
    return page


def visible_chart(page: Page, name: str) -> Locator:
    return page.get_by_label(name, exact=True).locator("svg.chart:visible")


def test_they_look_right_in_light_and_dark_and_on_a_phone(gallery: Page) -> None:
    axe_clean(gallery)
    fits(gallery)
    gallery.set_viewport_size(PHONE)
    axe_clean(gallery)
    fits(gallery)
    for name in charts():
        texts = visible_chart(gallery, name).locator("text:visible")
        heights = texts.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
        # The box of a line of 11 px letters.
        assert min(heights) >= 11, name


def test_arrow_keys_walk_from_mark_to_mark(gallery: Page) -> None:
    tip = gallery.get_by_role("status")
    visible_chart(gallery, "bars").focus()
    gallery.keyboard.press("ArrowDown")
    expect(tip).to_have_text("Lyon, in: 12.40 ± 0.30 million km")
    gallery.keyboard.press("ArrowDown")
    gallery.keyboard.press("ArrowDown")
    expect(tip).to_have_text("Grenoble, in: not shown: too few devices")
    gallery.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_the_pointer_shows_what_a_mark_says(gallery: Page) -> None:
    tip = gallery.get_by_role("status")
    visible_chart(gallery, "country").locator(".places .point").first.hover()
    expect(tip).to_have_text("Lyon, FR: 12.40 ± 0.30 million km; change +3.0 ± 1.0 %")
    gallery.get_by_role("heading", name="Charts").hover()
    expect(tip).to_be_hidden()
    # What was said is still there for whoever asks next.
    assert "Lyon, FR: 12.4" in visible_chart(gallery, "country").inner_html()


def test_a_map_is_enlarged_moved_and_shown_whole_again(gallery: Page) -> None:
    figure = gallery.get_by_label("country", exact=True)
    stage = figure.locator(".map-stage")
    whole = stage.get_attribute("viewBox")
    figure.get_by_role("button", name="Enlarge the map").click()
    figure.get_by_role("button", name="Enlarge the map").click()
    expect(stage).not_to_have_attribute("viewBox", whole or "")
    near = stage.get_attribute("viewBox") or ""
    box = visible_chart(gallery, "country").bounding_box()
    assert box
    gallery.mouse.move(box["x"] + 300, box["y"] + 200)
    gallery.mouse.down()
    gallery.mouse.move(box["x"] + 360, box["y"] + 200, steps=4)
    gallery.mouse.up()
    assert _left(stage.get_attribute("viewBox") or "") < _left(near)
    figure.get_by_role("button", name="Show the whole map").click()
    assert [float(one) for one in (stage.get_attribute("viewBox") or "").split()] == pytest.approx(
        [float(one) for one in (whole or "").split()]
    )


@pytest.mark.parametrize(
    ("name", "title", "top"),
    [("bars", "Distance by place", -16), ("country", "France", -16), ("lines", "Over time", -44)],
)
def test_a_chart_can_be_kept_as_a_picture_and_as_a_drawing(
    gallery: Page, name: str, title: str, top: int
) -> None:
    """With its title, which a page may have beside it, and its source."""
    with gallery.expect_download() as given:
        gallery.get_by_role("button", name=f"PNG of {name}").click()
    assert given.value.path().read_bytes().startswith(b"\x89PNG")
    with gallery.expect_download() as given:
        gallery.get_by_role("button", name=f"SVG of {name}").click()
    kept = given.value.path().read_text()
    assert tree(kept).attrib["viewBox"].startswith(f"-16 {top} 752 ")
    assert "var(" not in kept
    assert words(kept).count(title) == 1
    assert words(kept)[-1] == "A source"


def _left(box: str) -> float:
    return float(box.split(maxsplit=1)[0])
