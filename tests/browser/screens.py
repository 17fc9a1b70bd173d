"""How large screens are."""

from typing import Final

from playwright.sync_api import ViewportSize

PHONE: Final[ViewportSize] = {"width": 390, "height": 844}
SMALL_PHONE: Final[ViewportSize] = {"width": 360, "height": 640}
WIDE: Final[ViewportSize] = {"width": 1280, "height": 800}
