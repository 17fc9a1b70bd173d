"""Where this machine's Chromium is, and how it is started."""

import shutil

FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium_path() -> str | None:
    return next((path for path in map(shutil.which, _NAMES) if path), None)
