"""The page of the fleet in a real browser: it follows, one can go into it, and all can read it."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import axe_clean, become, fits
from tests.browser.screens import PHONE
from tests.parts import Site

# As if front ends had counted it, and the heartbeat's job had come by.
CHECK_INS = """
from portal.clock import civil_clock
from portal.collection.jobs import count_fleet
from portal.collection.fleet_counts import HASH, Stage, field
from portal.valkey import queue_client
today = civil_clock().now().date()
queue_client().hincrby(HASH, field(today, Stage.CHECKED_IN, "all"), 45_678)
queue_client().incrby("mayfly:active:all", 123_456)
count_fleet()
"""


def test_it_follows_by_itself_and_leads_into_populations_and_weeks(page: Page, site: Site) -> None:
    become(page, "operator")
    page.goto("/fleet")
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    site.shell(CHECK_INS)
    funnel = page.get_by_role("region", name="Funnel by population")
    expect(funnel.get_by_text("46,000").first).to_be_visible(timeout=60_000)
    axe_clean(page)
    funnel.get_by_role("link", name="all", exact=True).click()
    expect(page.get_by_role("heading", name="all, by day", exact=True)).to_be_visible()
    page.get_by_role("link", name="By week").click()
    expect(page.get_by_role("heading", name="all, by week", exact=True)).to_be_visible()
    expect(page.get_by_text("120,000").first).to_be_visible()
    page.set_viewport_size(PHONE)
    fits(page)
