"""The pictures of the README, taken from a demo of its own: `make screenshots`.

It waits until the demo has two releases, which takes about five minutes.
"""

import tempfile
from datetime import timedelta
from pathlib import Path

from playwright.sync_api import sync_playwright

from aggregation.clock import SimulatedClock
from tests.browser.chromium import FLAGS, chromium_path
from tests.journeys.world import next_monday
from tests.parts import ROOT, eventually, start_system

FOLDER = ROOT / "static" / "screenshots"
SIZE = {"width": 1120, "height": 760}
# Where each is, and what of the page stands just below the bar at its top.
PICTURES = {
    "map": (
        "/releases/weekly-trips/{window}/map?metric=distance_km&activity=driving&within=europe",
        "#map",
    ),
    "place": ("/places/2988507?metric=distance_km&activity=driving", "body"),
}
TO_THE_TOP = "one => scrollTo(0, one.getBoundingClientRect().top + scrollY - 80)"


def main() -> None:
    first = next_monday()
    with tempfile.TemporaryDirectory(prefix="mayfly-pictures-") as folder:
        data = Path(folder)
        SimulatedClock(data / "clock.json").start(first - timedelta(hours=1), speed=0)
        system = start_system(data, MAYFLY_SCENARIO="demo", MAYFLY_HEARTBEAT_SECONDS="2")
        try:
            second = f"{first + timedelta(days=7):%Y-%m-%d}"
            made = data / "releases" / "weekly-trips" / second / "manifest.json"
            eventually(made.exists, within=1200, log=system.log)
            _take(system.url, second)
        finally:
            system.stop()


def _take(url: str, window: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        page = browser.new_page(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type]
        for name, (path, edge) in PICTURES.items():
            page.goto(url + path.format(window=window))
            page.locator(edge).first.evaluate(TO_THE_TOP)
            page.screenshot(path=FOLDER / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
