"""The lab in a real browser: a study is asked for, watched until it is done, and read."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import axe_clean, become, fits
from tests.browser.screens import PHONE


def test_a_study_is_asked_for_watched_and_read(page: Page) -> None:
    become(page, "analyst")
    page.goto("/lab")
    axe_clean(page)
    card = page.get_by_role("region", name="Study reach")
    card.get_by_text("Ask for one").click()
    card.get_by_label("Phones").fill("20000")
    card.get_by_role("button", name="Start the study").click()
    expect(page.get_by_role("heading", name="The version ladder")).to_be_visible(timeout=120_000)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    axe_clean(page)
    page.set_viewport_size(PHONE)
    fits(page)


def test_a_study_that_is_cancelled_ends(page: Page) -> None:
    become(page, "analyst")
    page.goto("/lab")
    card = page.get_by_role("region", name="Compare mechanisms")
    card.get_by_text("Ask for one").click()
    axe_clean(page)
    card.get_by_role("button", name="Start the study").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("It was cancelled.")).to_be_visible()
    page.goto("/lab")
    expect(page.get_by_text("Cancelled").first).to_be_visible()
    page.set_viewport_size(PHONE)
    fits(page)
