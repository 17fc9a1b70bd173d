"""What browser tests of the editor do again and again."""

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import sign_in

TABS = ("Problems", "Explain", "Preview", "Forecast", "Cost", "Schema")


def begin(page: Page, name: str, title: str = "Weekly trips") -> None:
    sign_in(page, "analyst")
    page.goto("/tasks/new")
    page.get_by_role("radio", name=title).check()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Make the draft").click()
    expect(page.locator("#editor")).to_have_attribute("data-ready", "")


def pane(page: Page, part: str) -> Locator:
    return page.locator(f"[data-ace={part}]")


def put_in(page: Page, part: str, text: str) -> None:
    """Type at the end of a query."""
    pane(page, part).locator(".ace_content").click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(text)


def state(page: Page) -> Locator:
    return page.locator("#save-state")


def tab(page: Page, title: str) -> Locator:
    return page.get_by_role("tab", name=title)


def draft_of(page: Page, name: str) -> str:
    return page.request.get(f"/tasks/{name}/edit/document").text()
