"""The watch itself: a page that misbehaves is noticed."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Complaints, axe_clean, fits
from tests.parts import Site


def test_a_request_to_somebody_else_is_noticed(
    page: Page, site: Site, complaints: Complaints
) -> None:
    page.goto(f"http://localhost:{site.port}/login")
    assert f"The page asked for http://localhost:{site.port}/login." in complaints.left()
    complaints.forgive("The page asked for http://localhost:")


def test_an_error_in_the_console_is_noticed(page: Page, complaints: Complaints) -> None:
    page.goto("/login")
    page.evaluate("() => console.error('boom')")
    assert any("boom" in complaint for complaint in complaints.left())
    complaints.forgive("boom")


def test_an_inline_style_is_refused_and_noticed(page: Page, complaints: Complaints) -> None:
    page.goto("/login")
    page.evaluate("() => document.body.insertAdjacentHTML('beforeend', '<p style=\"top:0\">x</p>')")
    expect(page.locator("p[style]")).to_be_attached()
    assert any("style-src" in complaint for complaint in complaints.left())
    complaints.forgive("style-src")


def test_faint_text_is_noticed(page: Page) -> None:
    page.goto("/login")
    axe_clean(page)
    page.evaluate("() => document.querySelector('h1').style.setProperty('color', '#999', '')")
    with pytest.raises(AssertionError, match="contrast"):
        axe_clean(page)


def test_text_that_is_faint_in_the_dark_only_is_noticed(page: Page) -> None:
    """In one place of many that look alike: the dark theme is judged by one of each look."""
    page.goto("/docs")
    page.evaluate(
        "() => [...document.querySelectorAll('main p')].at(-1)"
        ".style.setProperty('color', 'light-dark(black, #333)')"
    )
    page.evaluate("() => document.documentElement.style.setProperty('color-scheme', 'light dark')")
    with pytest.raises(AssertionError, match=r"dark\s[\s\S]*contrast"):
        axe_clean(page)


def test_a_page_that_is_too_wide_is_noticed(page: Page) -> None:
    page.goto("/login")
    fits(page)
    page.evaluate("() => document.querySelector('main').style.setProperty('min-width', '3000px')")
    with pytest.raises(AssertionError, match="px wide"):
        fits(page)
