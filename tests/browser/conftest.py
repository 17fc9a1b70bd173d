"""A real browser on a real system. A test fails when its page asks anybody else for anything, or
when the browser complains in its console."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.chromium import FLAGS, chromium_path
from tests.browser.looking import axe_clean, fits
from tests.parts import Site

__all__ = ["Complaints", "axe_clean", "become", "fits", "sign_in", "watch"]

# Sessions of the demo's people in this process, by role.
_cookies: dict[str, list[Any]] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(os.path.dirname(__file__)):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> str:
    found = chromium_path()
    if found:
        return found
    sentence = "There is no Chromium here: install the package chromium to run the browser tests."
    if os.environ.get("CI") == "true":
        pytest.fail(sentence)
    pytest.skip(sentence)


@pytest.fixture(scope="session")
def browser_type_launch_args(chromium: str) -> dict[str, Any]:
    return {"executable_path": chromium, "args": FLAGS}


@pytest.fixture(scope="session")
def browser_context_args(site: Site) -> dict[str, Any]:
    return {
        "base_url": site.url,
        "color_scheme": "light",
        # Colours change at once, so that a look at them never meets one half-way.
        "reduced_motion": "reduce",
        "viewport": {"width": 1280, "height": 800},
    }


@dataclass
class Complaints:
    """What a page did that it should not. A test that provokes something forgives it by name."""

    found: list[str] = field(default_factory=list)
    forgiven: list[str] = field(default_factory=list)

    def forgive(self, text: str) -> None:
        self.forgiven.append(text)

    def left(self) -> list[str]:
        return [c for c in self.found if not any(text in c for text in self.forgiven)]


@pytest.fixture
def complaints() -> Complaints:
    return Complaints()


@pytest.fixture
def name() -> str:
    """For a task of this test's own: all tests share one system."""
    return f"task-{uuid4().hex[:8]}"


@pytest.fixture
def page(context: BrowserContext, site: Site, complaints: Complaints) -> Iterator[Page]:
    """A page that keeps to its site and to its manners."""
    watch(context, site, complaints)
    yield context.new_page()
    assert complaints.left() == []


def watch(context: BrowserContext, site: Site, complaints: Complaints) -> None:
    # Long enough for a machine that is busy with other tests; nothing waits that is there already.
    context.set_default_timeout(30_000)
    expect.set_options(timeout=30_000)

    def asked(url: str) -> None:
        if not url.startswith((site.url + "/", "data:", "blob:")):
            complaints.found.append(f"The page asked for {url}.")

    context.on("request", lambda request: asked(request.url))
    context.on(
        "console",
        lambda said: (
            complaints.found.append(f"{said.text} {said.location.get('url', '')}")
            if said.type == "error"
            else None
        ),
    )
    context.on("weberror", lambda raised: complaints.found.append(str(raised.error)))


def sign_in(page: Page, role: str) -> None:
    """Be the demo person of a role from here on. Who has been it before keeps the same session."""
    if role not in _cookies:
        page.context.clear_cookies()
        become(page, role)
        _cookies[role] = list(page.context.cookies())
    page.context.add_cookies(_cookies[role])


def become(page: Page, role: str) -> None:
    """Sign in as a guest of the demo does; this session is nobody else's."""
    page.goto("/")
    page.locator(f"main button[name=role][value={role}]").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome")
