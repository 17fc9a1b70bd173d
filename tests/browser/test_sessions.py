"""The page of sessions in a real browser: it follows, can be paused, and needs no script."""

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Complaints, become
from tests.parts import Site, eventually

# One more place for sessions, from a worker that says it is alive.
ANOTHER_WORKER = """
from portal import heartbeats
heartbeats.beat("sessions@browser-test")
"""


def test_it_follows_by_itself_and_can_be_paused(page: Page, site: Site) -> None:
    become(page, "operator")
    page.goto("/sessions")
    state = page.locator("[data-live-state]")
    expect(state).to_have_text("Live")
    expect(page.get_by_text("Updates at rest: 0")).to_be_visible()
    site.shell(ANOTHER_WORKER)
    worker = page.get_by_text("sessions@browser-test", exact=True)
    expect(worker).to_be_visible()
    # Its word lapses after some seconds, and the page notices that as well.
    expect(worker).to_have_count(0)
    page.get_by_role("button", name="Pause").click()
    expect(state).to_have_text("Paused")
    site.shell(ANOTHER_WORKER)
    expect(worker).to_have_count(0)
    page.get_by_role("button", name="Go on").click()
    expect(state).to_have_text("Live")


def test_what_was_reached_with_the_keyboard_stays_reached(page: Page, site: Site) -> None:
    become(page, "operator")
    page.goto("/sessions")
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    link = page.get_by_role("link", name="checked just now")
    link.focus()
    site.shell(ANOTHER_WORKER)
    expect(page.get_by_text("sessions@browser-test", exact=True)).to_be_visible()
    expect(link).to_be_focused()


def test_it_works_without_scripts(browser: Browser, page: Page, site: Site) -> None:
    become(page, "operator")
    cookies = page.context.cookies()
    context = browser.new_context(base_url=site.url, java_script_enabled=False)
    context.add_cookies(cookies)  # type: ignore[arg-type]
    plain = context.new_page()
    plain.goto("/sessions")
    expect(plain.get_by_role("heading", name="Workers")).to_be_visible()
    expect(plain.get_by_role("link", name="Look again")).to_be_visible()
    expect(plain.get_by_role("button", name="Pause")).to_have_count(0)
    context.close()


def test_a_page_that_is_left_lets_its_stream_go(
    page: Page, site: Site, complaints: Complaints
) -> None:
    become(page, "operator")
    for _ in range(30):
        page.goto("/sessions")
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    eventually(lambda: not complaints.left())
