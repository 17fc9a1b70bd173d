"""Reviewing and running a task in a real browser."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import axe_clean, fits, sign_in
from tests.browser.screens import PHONE
from tests.portal.tasks.conftest import spec_text


def submit(page: Page, name: str, **fields: object) -> None:
    """Write and submit as the analyst's programs do, which call what the editor calls."""
    sign_in(page, "analyst")
    text = spec_text(name, **fields)
    made = _call(page, "POST", "tasks", {"name": name, "text": text})
    version = made.get("version")
    if version is None:  # there is such a task already
        held = page.request.get(f"/api/v1/tasks/{name}/draft").json()["version"]
        saved = _call(page, "PUT", f"tasks/{name}/draft", {"text": text, "base_version": held})
        version = saved["version"]
    assert _call(page, "POST", f"tasks/{name}/submit", {"version": version})["number"]


def _call(page: Page, method: str, address: str, body: dict[str, object]) -> dict[str, Any]:
    token = next(c["value"] for c in page.context.cookies() if c["name"] == "csrftoken")
    headers = {"X-CSRFToken": token, "Referer": page.url}
    answer = page.request.fetch(f"/api/v1/{address}", method=method, data=body, headers=headers)
    return dict(answer.json())


def open_review(page: Page, name: str) -> None:
    page.goto("/review")
    page.get_by_role("link", name=name).click()


def fits_a_phone(page: Page) -> None:
    size = page.viewport_size
    page.set_viewport_size(PHONE)
    fits(page)
    page.set_viewport_size(size)  # type: ignore[arg-type]


def every_column_is_in_sight(table: Locator) -> None:
    """Nothing is cut at the right: its frame does not have to be moved sideways."""
    widths = table.evaluate("(table) => [table.scrollWidth, table.parentElement.clientWidth]")
    assert widths[0] <= widths[1], widths


def test_changes_are_asked_for_and_then_it_is_approved(page: Page, name: str) -> None:
    submit(page, name, epsilon="0.05")
    sign_in(page, "reviewer")
    page.goto("/review")
    axe_clean(page)
    page.get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"{name}, revision 1")
    axe_clean(page)
    fits_a_phone(page)

    page.get_by_role("link", name="Comment on line 2 of client_sql").click()
    page.get_by_label("Comment", exact=True).fill("Why no filter?")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator(".diff-thread")).to_contain_text("Why no filter?")

    page.get_by_label("What you tell the author").fill("Lower ε, please.")
    page.get_by_role("button", name="Ask for changes").click()
    expect(page.get_by_role("status").first).to_contain_text("Sent back")

    submit(page, name, epsilon="0.02")
    sign_in(page, "reviewer")
    open_review(page, name)
    expect(page.get_by_label("Your decision")).to_contain_text("You approve the content")
    approve_by_keyboard(page, "reviewer")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Active")
    expect(page.get_by_label("Windows", exact=True)).to_contain_text("On the server")
    every_column_is_in_sight(page.get_by_role("table", name="Table of revisions"))
    axe_clean(page)
    fits_a_phone(page)


def approve_by_keyboard(page: Page, password: str) -> None:
    page.locator("#decide textarea").focus()
    page.keyboard.type("Much better.")
    page.keyboard.press("Tab")
    page.keyboard.type(password)
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Approve")).to_be_focused()
    page.keyboard.press("Enter")


def test_it_is_paused_and_ended_on_its_page(page: Page, name: str) -> None:
    submit(page, name, epsilon="0.01")
    sign_in(page, "reviewer")
    open_review(page, name)
    approve_by_keyboard(page, "reviewer")
    page.get_by_text("Pause", exact=True).click()
    page.get_by_role("button", name="Pause the task").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Paused")
    page.get_by_text("End", exact=True).click()
    page.get_by_role("button", name="End the task").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Ended")
    page.goto("/ledger?stream=trips")
    expect(page.get_by_role("table")).not_to_contain_text(name)


def test_the_author_is_told_why_they_do_not_decide(page: Page, name: str) -> None:
    submit(page, name, epsilon="0.01")
    open_review(page, name)
    decision = page.get_by_label("Your decision")
    expect(decision).to_contain_text("Only people with the role reviewer")
    expect(decision.get_by_role("button")).to_have_count(0)
