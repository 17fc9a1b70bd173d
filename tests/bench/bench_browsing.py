"""Pages of a release of 4.05 M statistics in a real browser, beside what a page here costs anyhow.

The system, the release and Chromium are real; every cell has something to show. The floor is the
list of places without a word in it: the same frame around nothing much.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from portal.tasks.starting_points import starting_point
from tests.bench.figures import Figure
from tests.browser.chromium import FLAGS, chromium_path
from tests.browser.test_releases import RELEASE
from tests.parts import System, eventually, start_system

TASK = "weekly-trips-of-all"
ROUNDS = 5
FLOOR = "/places?q=zzzz"
PAGES = {
    "release": "",
    "release, by place": "?metric=distance_km&by=region&second=activity&layout=stacked",
    "map of the world": "/map?metric=distance_km&activity=cycling",
    "map of a country": "/map?metric=distance_km&within=US&colour=share&activity=driving",
    "table": "/table",
    "table of one place": "/table?region=2988507&sort=-distance_km",
}
PAINT = """() => new Promise(found => new PerformanceObserver(list => {
  const paint = list.getEntriesByName('first-contentful-paint')[0];
  if (paint) found(paint.startTime);
}).observe({type: 'paint', buffered: true}))"""
BYTES = """() => [...performance.getEntriesByType('navigation'),
  ...performance.getEntriesByType('resource')].reduce((sum, one) => sum + one.transferSize, 0)"""


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="mayfly-bench-") as folder:
        system = start_system(Path(folder), MAYFLY_SCENARIO="none")
        try:
            eventually(system.is_ready, within=180, log=system.log)
            address = _release(system)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
                yield from _measured(browser.new_page(base_url=system.url), address)
                browser.close()
        finally:
            system.stop()


def _measured(page: Page, address: str) -> Iterator[Figure]:
    beside = "a page of the same frame with nothing in it"
    page.goto(FLOOR)
    floor = _median(lambda: _paint(page, FLOOR))
    for name, path in PAGES.items():
        page.goto(address + path)
        ours = _median(lambda: _paint(page, address + path))  # noqa: B023
        yield Figure(f"{name}, first contentful paint", ours, floor, "ms", beside)
    for name, path in PAGES.items():
        size = _fresh_bytes(page, address + path)
        yield Figure(f"{name}, compressed, first visit", size / 1e6, 2.0, "MB", "the most we allow")
    place = f"/places/2988507?task={TASK}"
    ours = _median(lambda: _paint(page, place))
    yield Figure("page of a place, first contentful paint", ours, floor, "ms", beside)
    yield Figure("a chart follows its form", _interaction(page, address), 300, "ms", "our limit")


def _paint(page: Page, path: str) -> float:
    page.goto(path)
    return float(page.evaluate(PAINT))


def _fresh_bytes(page: Page, path: str) -> float:
    context = page.context.browser.new_context(base_url=page.url.split("/releases")[0])  # type: ignore[union-attr]
    fresh = context.new_page()
    fresh.goto(path, wait_until="networkidle")
    size = float(fresh.evaluate(BYTES))
    context.close()
    return size


def _interaction(page: Page, address: str) -> float:
    """From the choice to the new chart, there and back."""
    page.goto(f"{address}?metric=num_trips&by=activity")
    spent = []
    for metric, title in [("distance_km", "Distance"), ("num_trips", "Trips")] * ROUNDS:
        began = time.perf_counter()
        page.get_by_label("Show", exact=True).select_option(metric)
        page.get_by_role("heading", name=f"{title} by activity").wait_for()
        spent.append(time.perf_counter() - began)
    return 1000 * statistics.median(spent)


def _median(measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(ROUNDS))


def _release(system: System) -> str:
    """One public release of the shipped task over the whole world."""
    text = starting_point("weekly-trips").text
    text = text.replace("name: weekly-trips", f"name: {TASK}", 1)
    text = text.replace("audience: internal", "audience: public")
    text = text.replace("grace_hours: 168", "grace_hours: 24").replace("epsilon: 2", "epsilon: 1")
    script = RELEASE.format(name=TASK).replace(
        "report.sums[:, 1] +=", "report.sums[:, 1:] += 10**12; report.sums[:, 1] +="
    )
    window = system.shell(script, text).split()[-1]
    made = system.data / "releases" / TASK / window / "manifest.json"
    eventually(made.exists, within=300, log=system.log)
    return f"/releases/{TASK}/{window}"
