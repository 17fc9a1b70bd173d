"""What a form chooses is kept by tabs and windows, though the page was not loaded again."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import sign_in
from tests.browser.test_releases import address, looks_right
from tests.parts import Site

__all__ = ["address"]


def test_tabs_keep_what_a_form_has_changed(page: Page, site: Site, address: str) -> None:
    sign_in(page, "consumer")
    page.goto(address)
    page.get_by_label("Show", exact=True).select_option("distance (km)")
    page.get_by_label("By", exact=True).select_option("country")
    page.get_by_label("Activity", exact=True).select_option("cycling")
    expect(page).to_have_url(re.compile("activity=cycling"))
    tabs = page.get_by_role("navigation", name="This release")
    tabs.get_by_role("link", name="Map").click()
    expect(page.get_by_role("heading", name="Distance by place (cycling)")).to_be_visible()
    tabs.get_by_role("link", name="Table").click()
    expect(page.get_by_label("Activity", exact=True)).to_have_value("cycling")
    expect(page.locator("th[aria-sort]")).to_contain_text("Distance (km)")
    rows = page.get_by_role("navigation", name="Rows of this table")
    rows.get_by_role("link", name="with reasons").click()
    expect(page).to_have_url(re.compile("activity=cycling.*shown=0|shown=0.*activity=cycling"))
    looks_right(page)
    tabs.get_by_role("link", name="Overview").click()
    expect(page.get_by_label("Activity", exact=True)).to_have_value("cycling")
