"""Browsing releases in a real browser: charts, maps, places, comparisons, emissions, embeds."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import axe_clean, fits, sign_in
from tests.browser.screens import PHONE
from tests.browser.test_releases import address, looks_right
from tests.parts import Site

__all__ = ["address"]


@pytest.fixture
def task(address: str) -> str:
    return address.split("/")[2]


def test_a_chart_follows_its_form_and_its_address_can_be_shared(
    page: Page, site: Site, address: str
) -> None:
    sign_in(page, "consumer")
    page.goto(address)
    chart = page.locator("#chart figure")
    expect(chart.get_by_role("heading", name="Trips by activity")).to_be_visible()
    page.get_by_label("By", exact=True).select_option("country")
    expect(chart.get_by_role("heading", name="Trips by country")).to_be_visible()
    page.get_by_text("More choices").click()
    page.get_by_label("And by").select_option("activity")
    page.get_by_label("Drawn").select_option("multiples")
    page.get_by_label("Count as").select_option("share")
    expect(page).to_have_url(
        re.compile("layout=multiples.*measure=share|measure=share.*layout=mul")
    )
    expect(chart.locator("svg").first).to_be_visible()
    looks_right(page)
    page.reload()
    expect(page.get_by_label("By", exact=True)).to_have_value("country")
    page.get_by_text("The same as a table").click()
    expect(chart.locator("tbody tr").first).to_contain_text("±")
    with page.expect_download() as given:
        page.get_by_role("link", name="SVG").click()
    assert given.value.path().read_bytes().startswith(b"<svg")


def test_a_country_is_chosen_by_its_name_and_a_mistake_keeps_the_rest(
    page: Page, site: Site, address: str
) -> None:
    page.goto(f"{address}?by=activity")
    page.get_by_text("More choices").click()
    page.get_by_label("Country").select_option("Germany")
    heading = page.locator("#chart-title")
    expect(heading).to_have_text("Trips by activity (Germany)")
    page.goto(f"{address}?by=activity&country=japan&top=1000")
    expect(heading).to_have_text("Trips by activity (Japan)")
    expect(page.get_by_role("alert")).to_contain_text("1 to 50 rows")
    expect(page.get_by_label("Country")).to_have_value("JP")
    looks_right(page)


def test_another_way_to_count_keeps_the_chart_in_view(page: Page, site: Site, address: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}?by=country&activity=cycling&measure=amount")
    page.get_by_role("link", name="Rank by the share of cycling instead").click()
    expect(page.locator("#chart-title")).to_contain_text("Share of cycling")
    expect(page.locator("#chart-title")).to_be_in_viewport()
    expect(page.locator(".answer")).to_be_in_viewport()


def test_from_the_map_to_a_country_and_on_to_a_comparison(
    page: Page, site: Site, address: str, task: str
) -> None:
    page.goto(address)
    page.get_by_role("link", name="Map", exact=True).click()
    expect(page.locator("#map svg").first).to_be_visible()
    looks_right(page)
    page.get_by_label("Activity").select_option("cycling")
    expect(page.get_by_role("heading", name="Trips by place (cycling)")).to_be_visible()
    page.locator("#map tbody a").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    if page.get_by_label("Task").count():
        page.get_by_label("Task").select_option(task)
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator(".headlines")).to_contain_text("people in")
    looks_right(page)
    page.get_by_role("link", name="Compare").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare")
    looks_right(page)


def test_on_a_phone_a_chart_stands_above_what_one_could_choose(
    page: Page, site: Site, address: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}?by=activity")
    expect(page.get_by_label("Count as")).to_be_hidden()
    # What comes first is on the first screen.
    answer = page.locator(".answer").bounding_box()
    assert answer is not None
    assert answer["y"] + answer["height"] <= PHONE["height"]
    fits(page)
    page.get_by_text("Choose what the chart shows").click()
    page.get_by_label("By", exact=True).select_option("country")
    expect(page.locator("#chart h2").first).to_contain_text("country")
    # What follows the choice is seen beside it.
    expect(page.locator("#chart h2").first).to_be_in_viewport()
    page.get_by_text("More choices").click()
    fits(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.reload()
    expect(page.get_by_label("Count as")).to_be_visible()
    expect(page.get_by_label("Drawn")).to_be_hidden()
    expect(page.get_by_text("Choose what the chart shows")).to_be_hidden()


def test_a_table_that_is_wider_than_a_phone_scrolls_with_the_keys(
    page: Page, site: Site, address: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}/map?activity=driving&within=world&colour=change")
    fits(page)
    table = page.locator("#map .table-wrap")
    table.focus()
    page.keyboard.press("ArrowRight")
    axe_clean(page)


def test_a_map_is_looked_at_from_nearer_by_without_a_script(
    page: Page, site: Site, address: str
) -> None:
    page.goto(f"{address}/map?activity=driving")
    looks = page.get_by_role("navigation", name="Part of the world")
    looks.get_by_role("link", name="World").click()
    expect(page).to_have_url(re.compile("activity=driving.*within=world"))
    expect(looks.get_by_role("link", name="World")).to_have_attribute("aria-current", "true")
    expect(page.get_by_label("Where")).to_have_value("world")


def test_emissions_follow_the_sliders(page: Page, site: Site, address: str, task: str) -> None:
    sign_in(page, "consumer")
    page.goto(f"/emissions?task={task}")
    expect(page.locator(".headline")).to_contain_text("emitted")
    looks_right(page)
    slider = page.get_by_label("Electric cars")
    slider.focus()
    slider.press("End")
    expect(page.locator("#scenario strong").first).to_have_text("100 %")
    expect(page.locator("output[for=electric]")).to_have_text("100 %")
    expect(page.locator(".scenario")).to_contain_text("Scenario, not a measurement")
    expect(page).to_have_url(re.compile("electric=100"))


def test_a_place_is_found_from_every_page(page: Page, site: Site) -> None:
    sign_in(page, "consumer")
    page.goto("/docs")
    page.locator("#find-place").press_sequentially("sao pau")
    page.get_by_role("link", name="São Paulo").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("São Paulo")


def test_a_frame_is_as_high_as_what_it_holds(page: Page, site: Site, address: str) -> None:
    """Nothing is cut off, and less than a tenth of a screen is left blank."""
    for path, frame in (("?by=activity", "/embed?by=activity"), ("/map", "/map/embed")):
        page.goto(f"{address}{path}")
        line = page.locator("[data-copy*=iframe]").get_attribute("data-copy") or ""
        height = int(line.partition(' height="')[2].partition('"')[0])
        page.set_viewport_size({"width": 760, "height": height})
        page.goto(f"{address}{frame}")
        box = page.locator("main").bounding_box()
        assert box is not None
        assert height - 90 < box["height"] <= height
        page.set_viewport_size({"width": 1280, "height": 900})


def test_a_chart_stands_alone_in_a_frame(page: Page, site: Site, address: str) -> None:
    for path in (f"{address}/embed?by=country", f"{address}/map/embed"):
        page.goto(path)
        expect(page.locator("svg").first).to_be_visible()
        expect(page.locator("nav")).to_have_count(0)
        looks_right(page)
