"""The frame: keyboard, menus, theme, phones, and no surprises while a page loads."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Complaints, become, sign_in
from tests.browser.screens import PHONE
from tests.parts import Site

_SHIFT = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += entry.value;
  }).observe({type: "layout-shift", buffered: true});
  requestAnimationFrame(() => requestAnimationFrame(() => done(sum)));
})"""
_FOCUS_SHOWN = """() => {
  const at = document.activeElement;
  const outlined = (pseudo) => getComputedStyle(at, pseudo).outlineStyle !== "none";
  return at === document.body || outlined(null) || outlined("::after") ? "" : at.outerHTML;
}"""


def test_the_first_tab_leads_past_the_navigation(page: Page) -> None:
    sign_in(page, "analyst")
    page.goto("/health")
    page.keyboard.press("Tab")
    link = page.get_by_role("link", name="Skip to the content")
    expect(link).to_be_focused()
    expect(link).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_the_focus_can_always_be_seen(page: Page) -> None:
    sign_in(page, "operator")
    page.goto("/")
    for _ in range(30):
        page.keyboard.press("Tab")
        assert page.evaluate(_FOCUS_SHOWN) == ""


def test_a_menu_opens_and_closes_from_the_keyboard(page: Page) -> None:
    sign_in(page, "analyst")
    page.goto("/")
    button = page.locator(".user-button")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="My account")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="My account")).to_be_hidden()
    expect(button).to_be_focused()


def test_a_menu_is_above_the_page_beside_it(page: Page) -> None:
    """It is wider than the rail that it opens from, and beside the rail is a table."""
    sign_in(page, "operator")
    page.goto("/audit")
    page.locator(".user-button").click()
    box = page.locator(".menu[open] .menu-panel").bounding_box()
    assert box
    table = page.locator(".table-wrap").first.bounding_box()
    assert table
    assert table["x"] < box["x"] + box["width"]
    is_on_top = """([x, y]) => Boolean(document.elementFromPoint(x, y).closest(".menu-panel"))"""
    for y in range(int(box["y"]) + 12, int(box["y"] + box["height"]) - 12, 40):
        assert page.evaluate(is_on_top, [box["x"] + box["width"] - 6, y])


def test_contents_that_scroll_begin_at_where_one_is(page: Page) -> None:
    page.goto("/docs/scaling")
    current = page.locator(".docs-side [aria-current]").locator("visible=true")
    expect(current).to_have_text("Scale on paper")
    expect(current).to_be_in_viewport(ratio=1)


def test_a_menu_closes_when_one_goes_elsewhere(page: Page) -> None:
    sign_in(page, "analyst")
    page.goto("/")
    account = page.get_by_role("link", name="My account")
    page.locator(".user-button").click()
    expect(account).to_be_visible()
    page.get_by_role("heading", level=1).click()
    expect(account).to_be_hidden()
    page.locator(".user-button").click()
    page.get_by_role("link", name="Streams", exact=True).first.focus()
    expect(account).to_be_hidden()


def test_the_navigation_shows_where_one_is(page: Page) -> None:
    sign_in(page, "analyst")
    page.goto("/streams/trips")
    here = page.get_by_role("navigation", name="Main").locator("[aria-current]")
    expect(here).to_have_count(1)
    expect(here).to_have_text("Streams")


def test_a_phone_reaches_everything_through_the_menu(page: Page) -> None:
    sign_in(page, "analyst")
    page.goto("/")
    page.set_viewport_size(PHONE)
    expect(page.get_by_role("navigation", name="Main", exact=True)).to_be_hidden()
    page.locator(".rail-menu summary").click()
    page.get_by_role("navigation", name="Main menu").get_by_role("link", name="Streams").click()
    expect(page).to_have_url(re.compile(r"/streams$"))


def test_the_theme_stays_and_is_there_from_the_first_byte(page: Page) -> None:
    sign_in(page, "analyst")
    page.goto("/health")
    light = _ground(page)
    page.locator(".user-button").click()
    page.get_by_role("button", name="Dark", exact=True).click()
    expect(page).to_have_url(re.compile(r"/health$"))
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert _ground(page) != light
    page.goto("/streams")
    assert _ground(page) != light
    assert 'data-theme="dark"' in page.request.get("/streams").text()


def test_the_systems_theme_is_followed(page: Page) -> None:
    page.goto("/login")
    light = _ground(page)
    page.emulate_media(color_scheme="dark")
    assert _ground(page) != light


def _ground(page: Page) -> str:
    return str(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))


@pytest.mark.parametrize("address", ["/", "/streams", "/streams/trips", "/health", "/docs"])
def test_nothing_moves_while_a_page_loads(page: Page, address: str) -> None:
    sign_in(page, "operator")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(address, wait_until="load")
        assert page.evaluate(_SHIFT) < 0.005


def test_a_missing_page_helps(page: Page, complaints: Complaints) -> None:
    complaints.forgive("status of 404")
    sign_in(page, "analyst")
    page.goto("/stream")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing here")
    page.get_by_role("main").get_by_role("link", name="Streams").click()
    expect(page).to_have_url(re.compile(r"/streams$"))


def test_everything_basic_works_without_scripts(browser: Browser, site: Site) -> None:
    context = browser.new_context(base_url=site.url, java_script_enabled=False)
    page = context.new_page()
    become(page, "analyst")
    page.locator(".user-button").click()
    page.get_by_role("button", name="Dark", exact=True).click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator(".user-button").click()
    page.locator("button[name=role][value=reviewer]").click()
    expect(page.get_by_text("You are signed in as reviewer.")).to_be_visible()
    page.locator(".user-button").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile(r"/login"))
    context.close()


def test_health_shows_a_running_system(page: Page) -> None:
    page.goto("/health")
    expect(page.get_by_text("Everything is well.")).to_be_visible(timeout=30_000)
    expect(page.locator(".part")).to_have_count(7)


def test_the_policy_allows_nothing_inline(page: Page) -> None:
    answer = page.goto("/")
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
