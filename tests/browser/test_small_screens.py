"""Tables and maps on a phone: no number ends beyond the screen, and a map is high enough to see."""

import re

from playwright.sync_api import Page, expect

from tests.browser.screens import PHONE
from tests.browser.test_releases import address
from tests.parts import Site

__all__ = ["address"]


def test_every_number_of_a_row_is_on_the_screen(page: Page, site: Site, address: str) -> None:
    task = address.split("/")[2]
    page.set_viewport_size(PHONE)
    for path in (f"{address}/table", f"/releases/compare?task={task}&place=FR&with_place=DE"):
        page.goto(path)
        cells = page.locator(".stacks tbody tr").first.locator("td[data-label]")
        expect(cells.first).to_be_visible()
        for cell in cells.all():
            box = cell.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= PHONE["width"], path


def test_the_world_is_high_enough_and_its_legend_stays_in_sight(
    page: Page, site: Site, address: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}/map?within=world")
    stage, legend = page.locator(".map-stage").bounding_box(), page.locator(".map-legend")
    assert stage is not None
    assert stage["height"] > 250
    expect(legend).to_have_attribute("transform", re.compile("scale"))
    box = legend.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]


def test_the_world_fades_where_it_goes_on(page: Page, site: Site, address: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}/map?within=world")
    room = page.locator(".chart-room")
    both = re.compile(r"--fade-start: 2\.5rem; --fade-end: 2\.5rem")
    expect(room).to_have_attribute("style", both)
    room.evaluate("one => { one.scrollLeft = one.scrollWidth; }")
    expect(room).to_have_attribute("style", re.compile("--fade-end: 0px"))


def test_labels_of_stacked_rows_stand_clear_of_what_they_name(page: Page, site: Site) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/docs/evaluation")
    expect(page.locator(".table-stack td").first).to_be_visible()
    gaps = page.eval_on_selector_all(
        ".table-stack td[data-label]:not(:empty)",
        """cells => cells.map(cell => {
            const words = document.createRange();
            words.selectNodeContents(cell);
            const label = parseFloat(getComputedStyle(cell, "::before").width);
            return words.getBoundingClientRect().left - cell.getBoundingClientRect().left - label;
        })""",
    )
    assert min(gaps) >= 4
