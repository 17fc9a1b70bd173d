"""From a question to a task that runs, by two people in two browsers: once with the mouse, once
with the keyboard alone."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Complaints, sign_in, watch
from tests.browser.hands import Hands, Keyboard, Mouse
from tests.parts import Site


@pytest.fixture
def another(
    browser: Browser, site: Site, browser_context_args: dict[str, Any], complaints: Complaints
) -> Iterator[Page]:
    """A second person's browser, watched like the first."""
    context = browser.new_context(**browser_context_args)
    watch(context, site, complaints)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("means", [Mouse, Keyboard])
def test_author_changes_asked_resubmitted_approved_active(
    page: Page, another: Page, name: str, means: type[Hands]
) -> None:
    author, reviewer = means(page), means(another)
    sign_in(page, "analyst")
    sign_in(another, "reviewer")
    page.goto("/")
    another.goto("/")

    begin(author, name)
    submit(author, name, epsilon="0.04")

    open_review(reviewer, name)
    reviewer.press(another.get_by_role("link", name="Comment on line 1 of client_sql"))
    reviewer.write(another.get_by_label("Comment", exact=True), "Is the month needed?")
    reviewer.press(another.get_by_role("button", name="Comment", exact=True))
    expect(another.locator(".diff-thread")).to_contain_text("Is the month needed?")
    reviewer.write(another.get_by_label("What you tell the author"), "Half of it will do.")
    reviewer.press(another.get_by_role("button", name="Ask for changes"))
    expect(another.get_by_role("status").first).to_contain_text("Sent back")

    author.press(page.get_by_role("link", name=re.compile("^Notifications")).first)
    author.press(notice(page, f"{name} was sent back"))
    expect(page).to_have_url(re.compile(f"/tasks/{name}#comment-"))
    expect(page.locator("#comments")).to_contain_text("Half of it will do.")
    author.press(page.get_by_role("link", name="Edit", exact=True))
    submit(author, name, epsilon="0.02")

    open_review(reviewer, name)
    expect(another.get_by_label("Conversation", exact=True)).to_contain_text("Is the month needed?")
    reviewer.write(another.get_by_label("What you tell the author"), "Much better.")
    reviewer.write(another.get_by_label("Your password"), "reviewer")
    reviewer.press(another.get_by_role("button", name="Approve"))
    expect(another.get_by_role("heading", level=1)).to_contain_text("Active")

    author.press(page.get_by_role("link", name=re.compile("^Notifications")).first)
    author.press(notice(page, f"{name} was approved"))
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"{name} Active")
    expect(page.get_by_label("Windows", exact=True)).to_contain_text("The next release is")


def begin(hands: Hands, name: str) -> None:
    page = hands.page
    hands.press(main_navigation(page).get_by_role("link", name="Tasks"))
    hands.press(page.get_by_role("link", name="New task"))
    hands.choose(page.get_by_role("radio", name="Stars for the assistant"))
    hands.write(page.get_by_label("Name", exact=True), name)
    hands.press(page.get_by_role("button", name="Make the draft"))


def submit(hands: Hands, name: str, *, epsilon: str) -> None:
    page = hands.page
    expect(page.locator("#editor")).to_have_attribute("data-ready", "")
    hands.write(page.get_by_label("ε per window"), epsilon)
    expect(page.locator("#save-state")).to_have_text(re.compile("^Saved, version"))
    hands.press(page.get_by_role("button", name="Submit for review"))
    expect(page).to_have_url(re.compile(f"/tasks/{name}$"))
    expect(page.get_by_text("awaits review by a second person")).to_be_visible()


def open_review(hands: Hands, name: str) -> None:
    page = hands.page
    hands.press(main_navigation(page).get_by_role("link", name="Review"))
    hands.press(page.get_by_role("link", name=name))
    expect(page.get_by_label("Your decision")).to_contain_text("You approve the content")


def main_navigation(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Main", exact=True)


def notice(page: Page, title: str) -> Locator:
    return page.locator("main").get_by_role("link", name=title)
