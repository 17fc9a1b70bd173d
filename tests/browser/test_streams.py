"""Searching a domain while typing, with and without scripts, and copying a hash."""

import pytest
from playwright.sync_api import Browser, Page, expect

from portal.streams.geography import REGIONS_SHA256
from tests.browser.conftest import sign_in
from tests.parts import Site

REGIONS = "/streams/trips/domains/region"


def test_the_list_follows_what_one_types_and_so_does_the_address(page: Page) -> None:
    sign_in(page, "analyst")
    page.goto(f"{REGIONS}?page=3")
    page.get_by_label("Search", exact=True).press_sequentially("zuri")
    expect(page.get_by_role("rowheader", name="Zürich", exact=True)).to_be_visible()
    expect(page).to_have_url(f"{REGIONS}?q=zuri")
    expect(page.get_by_role("status").filter(has_text="found")).to_have_text("39 found")


def test_the_pages_of_a_search_keep_to_it(page: Page) -> None:
    sign_in(page, "analyst")
    page.goto(REGIONS)
    page.get_by_label("Search", exact=True).fill("san")
    expect(page.get_by_role("rowheader", name="San Jose", exact=True).first).to_be_visible()
    page.get_by_role("link", name="Next page").click()
    expect(page).to_have_url(f"{REGIONS}?q=san&page=2")
    expect(page.get_by_label("Search", exact=True)).to_have_value("san")


def test_nothing_found_says_so_and_leads_back(page: Page) -> None:
    sign_in(page, "analyst")
    page.goto(REGIONS)
    page.get_by_label("Search", exact=True).fill("xyzzyq")
    expect(page.get_by_role("heading", name="No region matches «xyzzyq»")).to_be_visible()
    page.get_by_role("link", name="Show all 50,000").click()
    expect(page.get_by_role("rowheader", name="Shanghai", exact=True)).to_be_visible()


def test_a_hash_is_copied_as_a_whole(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sign_in(page, "analyst")
    page.goto("/streams/trips")
    button = page.locator(f"button[data-copy='{REGIONS_SHA256}']")
    button.click()
    expect(button).to_have_text("Copied")
    box = button.get_by_role("status").bounding_box()
    assert box
    assert box["width"] > 10, "not for screen readers alone"
    assert page.evaluate("navigator.clipboard.readText()") == REGIONS_SHA256
    expect(button).to_contain_text("Copy the hash")


@pytest.mark.parametrize(
    "without",
    [
        "navigator.clipboard.writeText = () => Promise.reject(new Error('no'))",
        # As on plain http.
        "Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })",
    ],
)
def test_where_nothing_can_be_copied_the_text_is_selected(page: Page, without: str) -> None:
    page.add_init_script(without)
    sign_in(page, "analyst")
    page.goto("/streams/trips")
    button = page.locator(f"button[data-copy='{REGIONS_SHA256}']")
    button.click()
    expect(button).to_have_text("Copy what is selected")
    field = page.get_by_role("textbox", name="Copy the hash of")
    expect(field).to_be_focused()
    expect(field).to_have_value(REGIONS_SHA256)
    assert field.evaluate("one => one.selectionEnd - one.selectionStart") == len(REGIONS_SHA256)
    expect(button).to_contain_text("Copy the hash")


def test_it_can_be_searched_without_scripts(page: Page, browser: Browser, site: Site) -> None:
    sign_in(page, "analyst")
    signed_in = page.context.storage_state()
    plain = browser.new_context(
        base_url=site.url, java_script_enabled=False, storage_state=signed_in
    ).new_page()
    plain.goto(REGIONS)
    plain.get_by_label("Search", exact=True).fill("zurich")
    plain.get_by_role("button", name="Search", exact=True).click()
    expect(plain.get_by_role("rowheader", name="Zürich", exact=True)).to_be_visible()
    expect(plain.locator("button[data-copy]").first).to_be_hidden()
    plain.context.close()
