"""Reading a release in a real browser: list, tables, card, checks, downloads."""

from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import axe_clean, fits, sign_in
from tests.browser.screens import PHONE
from tests.parts import Site, eventually

SPEC = """\
name: {name}
description: Trips and distance by country and activity
streams: [trips]
population: all
window: {{unit: week, grace_hours: 24}}
client_sql: |
  SELECT country, activity, privacy_time_unit, COUNT(*) AS num_trips,
         SUM(distance_km) AS distance_km
  FROM trips GROUP BY country, activity, privacy_time_unit
server_sql: |
  SELECT country, activity, privacy_time_unit, SUM(num_trips) AS num_trips,
         SUM(distance_km) AS distance_km, SUM(distance_km) / SUM(num_trips) AS km_per_trip
  FROM device_results GROUP BY country, activity, privacy_time_unit
anonymization:
  epsilon: 0.02
  mechanism: {{kind: joint_clipping, clip: 200}}
  suppression: {{max_relative_noise: 0.1}}
publish: {{audience: public}}
post_processing: emissions
"""
# Its clock is weeks ahead, so that nobody but this script finds the window due. Nobody has
# contributed: the numbers that people would have are put in where the sums are noised.
RELEASE = """
import sys
import numpy as np
from aggregation.clock import ManualClock
from aggregation.release.noise import add_noise
from portal.accounts.models import Person
from portal.clock import civil_clock
from portal.releases import services as releasing
from portal.releases.selectors import due_windows
from portal.tasks import opening, services
ada, rafael = (Person.objects.get(username=name) for name in ("analyst", "reviewer"))
clock, name = civil_clock(), {name!r}
task = services.create_task(name=name, text=sys.stdin.read(), actor=ada, clock=clock)
revision = services.submit(task=task, version=1, actor=ada, clock=clock)
services.approve(revision=revision, seen=revision.content_sha256, password="reviewer",
                 comment="", actor=rafael, clock=clock)
task.refresh_from_db()
ahead = ManualClock(clock.now())
ahead.set(task.windows.order_by("start").first().due_at)
opening.advance_windows(task=task, clock=ahead)
def filled(report, recipe):
    ranks = np.arange(len(report.sums))
    report.sums[:, 0] += (ranks * 7919 % 100_003) ** 2 * 2_000
    report.sums[:, 1] += (ranks * 7919 % 100_003) ** 2 * 17_000
    return add_noise(report, recipe)
releasing.add_noise = filled
window = due_windows(ahead.now()).filter(task=task).first()
releasing.release_window(window=window, clock=ahead)
print(window.window)
"""


@pytest.fixture(scope="module")
def address(site: Site) -> str:
    """A public release, made and rendered."""
    name = f"trips-{uuid4().hex[:8]}"
    window = site.shell(RELEASE.format(name=name), SPEC.format(name=name)).split()[-1]
    folder = site.data / "releases" / name / window
    eventually((folder / "manifest.json").exists, log=site.log)
    return f"/releases/{name}/{window}"


def looks_right(page: Page) -> None:
    """In light and dark, wide and on a phone."""
    axe_clean(page)
    fits(page)
    size = page.viewport_size
    page.set_viewport_size(PHONE)
    fits(page)
    page.set_viewport_size(size)  # type: ignore[arg-type]


def test_a_consumer_finds_and_reads_a_release(page: Page, site: Site, address: str) -> None:
    sign_in(page, "consumer")
    page.goto("/")
    page.get_by_role("link", name="Releases").first.click()
    looks_right(page)
    page.locator(f'a[href="{address}"]').click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Public")
    expect(page.locator(".headlines").first).to_contain_text("±")
    looks_right(page)
    page.get_by_role("link", name="Table", exact=True).click()
    page.get_by_label("Table", exact=True).select_option("by-activity")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="By activity")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(9)
    page.get_by_role("link", name="Distance (km)").click()
    expect(page.locator("th[aria-sort]")).to_contain_text("Distance (km)")
    page.get_by_label("Table", exact=True).select_option("emissions-by-activity")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("thead")).to_contain_text("Emissions (kg CO₂e)")
    looks_right(page)


def test_a_guest_reads_the_card_and_checks_it(page: Page, site: Site, address: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="Guarantee card").click()
    expect(page.locator(".guarantee-line")).to_contain_text("ε = 0.02")
    looks_right(page)
    page.get_by_role("link", name="Check it").click()
    expect(page.get_by_role("status")).to_contain_text("checks hold")
    looks_right(page)


def test_a_table_is_downloaded_the_same_twice(page: Page, site: Site, address: str) -> None:
    page.goto(f"{address}/table")
    texts = []
    for _ in range(2):
        with page.expect_download() as given:
            page.get_by_role("link", name="CSV").click()
        texts.append(given.value.path().read_bytes())
    assert texts[0] == texts[1]
    assert texts[0].startswith(b"country,country_name,activity,privacy_time_unit,num_trips,")


def test_a_guest_reads_what_columns_mean(page: Page, site: Site, address: str) -> None:
    page.goto(f"{address}/table")
    page.get_by_role("link", name="What the columns mean").click()
    expect(page.get_by_role("heading", name="Data dictionary")).to_be_visible()
    expect(page.get_by_role("row", name="distance_km real km")).to_be_visible()
    expect(page.locator("pre")).to_contain_text("@misc{")
    looks_right(page)
