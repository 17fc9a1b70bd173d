"""Calibration on phones in a real browser: asked for from a task's page, and reviewed."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import axe_clean, fits, sign_in
from tests.browser.screens import PHONE
from tests.browser.test_tasks import open_review, submit


def test_phones_are_asked_for_scales(page: Page, name: str) -> None:
    submit(page, name, epsilon="0.02")
    page.goto(f"/tasks/{name}")
    page.get_by_role("link", name="Calibrate on phones").click()
    axe_clean(page)
    page.get_by_label("ε of the calibration").fill("0.02")
    expect(page.get_by_label("activity")).to_be_checked()
    page.get_by_role("button", name="Draft the task for scales").click()
    expect(page).to_have_url(f"/tasks/{name}-scales/edit")

    page.goto(f"/lab/on-phones/{name}")
    expect(page.get_by_text("Not submitted yet")).to_be_visible()
    axe_clean(page)
    page.set_viewport_size(PHONE)
    fits(page)


def test_a_reviewer_is_told_what_the_step_does(page: Page, name: str) -> None:
    step = "step: {kind: slice_norms, by: [activity], lowest: {n: 1}}"
    submit(page, name, epsilon="0.02", clip=f"1}}\n{step}\npublish: {{audience: internal")
    sign_in(page, "reviewer")
    open_review(page, name)
    expect(page.get_by_text("A built-in step then finds")).to_be_visible()
    axe_clean(page)
