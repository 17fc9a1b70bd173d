"""Looking at a page: is it accessible, in light and in dark, and does it fit its window?"""

import json
from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.sync_api import Page

_STANDARDS = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
_COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
_MARK_EACH_COLOURING = Path(__file__).with_name("colours.js").read_text()
# Contrast takes longer than all other rules together, and a table's rows look alike.
_LOOK_AT_MARKED = "axe.configure({rules: [{id: 'color-contrast', selector: '[data-looked-at]'}]})"


def axe_clean(page: Page) -> None:
    """No violation of WCAG 2.1 A and AA that a machine can find, in light and in dark.

    The dark theme differs in nothing but colours, so it is asked about those alone. The contrast
    of text is judged once for each way in which text is coloured.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
        page.evaluate(f"() => {_LOOK_AT_MARKED}")
    _judge(page, "dark", _COLOURS)
    _judge(page, "light", _STANDARDS)


def _judge(page: Page, scheme: Any, rules: dict[str, Any]) -> None:
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate(_MARK_EACH_COLOURING), f"{page.url}, {scheme}: there is no text."
    # Nodes that pass are counted, not described: describing them takes as long as judging.
    options = json.dumps({**rules, "resultTypes": ["violations"]})
    results = AxeResults(page.evaluate(f"() => axe.run(document, {options})"))
    assert "color-contrast" in {rule["id"] for rule in results.response["passes"]} or (
        results.violations_count
    ), f"{page.url}, {scheme}: the contrast of nothing was judged."
    assert results.violations_count == 0, f"{page.url}, {scheme}\n{results.generate_report()}"


def fits(page: Page) -> None:
    """Nothing is wider than the window."""
    wide = page.evaluate(
        "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide[0] <= wide[1], f"{page.url} is {wide[0]} px wide in a window of {wide[1]} px."
