"""*Your first release*, done as its page says: a question of one's own, phones that answer it, and
the release with its card. The test moves the clock; all else is as in the demo."""

import re
import shutil
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from aggregation.pace import DAY, QUICK
from tests.browser.conftest import Complaints, axe_clean, become, watch
from tests.parts import System, eventually, start_system

# Enough in one city for its country's row to stand out from the noise.
SCENARIO = """\
description = "Some phones in Paris"
seed = 7
phones = 4000
most_wake_ups = 2

[places]
2988507 = 1
"""
# The demo's own tasks would be released as well, one of them with millions of numbers.
END_OTHERS = """
from portal.accounts.models import Person
from portal.clock import civil_clock
from portal.tasks import services
from portal.tasks.models import Task
analyst = Person.objects.get(username="analyst")
for task in Task.objects.filter(state="active"):
    services.end(task=task, reason="Not today.", actor=analyst, clock=civil_clock())
"""
# The demo's own on a Monday, when phones send: it waits for those that cannot keep up.
MONDAY = str(QUICK.speed(4 * DAY))


@pytest.fixture
def demo(tmp_path: Path, prepared_data: Path) -> Iterator[System]:
    """A fresh system with phones; its clock stands still, an hour before a week begins."""
    (tmp_path / "paris.toml").write_text(SCENARIO)
    for name in ("streams", "static"):  # the rest has its time from the clock of this demo
        shutil.copytree(prepared_data / name, tmp_path / "data" / name)
    system = start_system(tmp_path / "data", MAYFLY_SCENARIO=str(tmp_path / "paris.toml"))
    try:
        eventually(lambda: "4,000 phones" in system.log.read_text(), within=180, log=system.log)
        system.manage("clock", "speed", "0")
        eventually(system.is_ready, within=120, log=system.log)
        system.shell(END_OTHERS)
        yield system
    finally:
        system.stop()


@pytest.fixture
def page(browser: Browser, demo: System, complaints: Complaints) -> Iterator[Page]:
    context = browser.new_context(base_url=demo.url, reduced_motion="reduce")
    watch(context, demo, complaints)
    yield context.new_page()
    context.close()
    assert complaints.left() == []


def test_from_a_template_to_a_release_with_its_card(page: Page, demo: System) -> None:
    become(page, "analyst")
    ask(page, "how-we-travel")
    switch(page, "reviewer")
    approve(page, "how-we-travel")

    monday = next_monday(demo)
    demo.manage("clock", "set", f"{monday + timedelta(days=7)}T12:00")
    demo.manage("clock", "speed", MONDAY)

    switch(page, "consumer")
    address = f"/releases/how-we-travel/{monday}"
    wait_for_release(page, demo, address)
    page.get_by_role("link", name="Table", exact=True).click()
    row = page.locator("main tbody tr", has_text="walking").first
    expect(row).to_contain_text("France")
    expect(row).to_contain_text("±")
    axe_clean(page)
    page.get_by_role("link", name="Guarantee card").click()
    expect(page.locator(".guarantee-line")).to_contain_text("ε = 0.5")
    page.get_by_role("link", name="Check it").click()
    expect(page.get_by_role("status")).to_contain_text("checks hold")


def ask(page: Page, name: str) -> None:
    page.get_by_role("link", name="Tasks").first.click()
    page.get_by_role("link", name="New task").click()
    page.get_by_role("radio", name="Country modal split").check()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Make the draft").click()
    expect(page.locator("#editor")).to_have_attribute("data-ready", "")
    page.get_by_label("Grace").fill("24")
    expect(page.locator("#save-state")).to_have_text(re.compile("^Saved, version"))
    page.get_by_role("button", name="Submit for review").click()
    expect(page.get_by_text("awaits review by a second person")).to_be_visible()


def approve(page: Page, name: str) -> None:
    page.get_by_role("link", name="Review", exact=True).first.click()
    page.get_by_role("link", name=name).click()
    page.get_by_label("Your password").fill("reviewer")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Active")


def switch(page: Page, role: str) -> None:
    page.locator(".user-menu summary:visible").click()
    page.locator(f"button[name=role][value={role}]:visible").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome")


def next_monday(demo: System) -> date:
    today = date.fromisoformat(demo.manage("clock", "show").split()[0])
    return today + timedelta(days=7 - today.weekday())


def wait_for_release(page: Page, demo: System, address: str) -> None:
    """Until it is listed, and its tables are made."""
    page.get_by_role("link", name="Releases").first.click()
    _reload_until(page, f'a[href="{address}"]', demo)
    page.goto(address)
    _reload_until(page, "main table", demo)


def _reload_until(page: Page, selector: str, demo: System) -> None:
    def is_there() -> bool:
        page.reload()
        return page.locator(selector).count() > 0

    eventually(is_there, within=180, log=demo.log)
