"""Every page: accessible in light and dark, and fit for a phone."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser import pages
from tests.browser.conftest import Complaints, axe_clean, fits, sign_in, watch
from tests.browser.screens import PHONE, SMALL_PHONE, WIDE
from tests.parts import Site


def test_every_pattern_with_arguments_has_an_example() -> None:
    needed = {str(p.name) for p in pages.page_patterns() if pages.takes_arguments(p)}
    assert needed == set(pages.EXAMPLES)


def look_at(page: Page, address: str) -> None:
    page.set_viewport_size(WIDE)
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 200, address
    assert "text/html" in answer.headers["content-type"], f"{address} is no page."
    axe_clean(page)
    for size in (PHONE, SMALL_PHONE):
        page.set_viewport_size(size)
        fits(page)


@dataclass
class Viewer:
    """One page in which one address is looked at after another, and what was wrong with each."""

    page: Page
    complaints: Complaints = field(default_factory=Complaints)

    def look_at(self, address: str) -> None:
        self.complaints.found.clear()
        look_at(self.page, address)
        assert self.complaints.left() == []


@pytest.fixture(scope="module")
def viewer(browser: Browser, site: Site, browser_context_args: dict[str, Any]) -> Iterator[Viewer]:
    """A new browser for each of so many pages would take longer than looking at them."""
    context = browser.new_context(**browser_context_args)
    found = Viewer(context.new_page())
    watch(context, site, found.complaints)
    yield found
    context.close()


@pytest.mark.parametrize("example", pages.examples(), ids=str)
def test_every_page_of_an_operator(viewer: Viewer, example: str | pages.Follow) -> None:
    sign_in(viewer.page, "operator")
    viewer.look_at(pages.address_of(viewer.page, example))


@pytest.mark.parametrize("role", ["analyst", "reviewer", "consumer"])
def test_home_of_the_other_roles(viewer: Viewer, role: str) -> None:
    sign_in(viewer.page, role)
    viewer.look_at("/")


@pytest.mark.parametrize("address", pages.GUEST_PAGES)
def test_every_page_of_a_guest(viewer: Viewer, address: str) -> None:
    viewer.page.context.clear_cookies()
    viewer.look_at(address)


def test_the_pages_for_when_something_is_wrong(page: Page, complaints: Complaints) -> None:
    complaints.forgive("status of 404")
    complaints.forgive("status of 403")
    sign_in(page, "analyst")
    for address in ("/no-such-page", "/people"):
        page.goto(address)
        axe_clean(page)


def test_an_open_menu_is_accessible_too(page: Page) -> None:
    sign_in(page, "analyst")
    page.goto("/")
    page.locator(".user-button").click()
    axe_clean(page)
    page.set_viewport_size(PHONE)
    fits(page)
    page.locator(".rail-menu summary").click()
    axe_clean(page)
    fits(page)
