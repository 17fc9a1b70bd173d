"""Where this machine's Chromium is, and how it is started."""

import shutil

FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
# The headless shell is the same engine without the window around a page, which no test looks at
# and which takes three quarters of the processor time of opening one.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def chromium_path() -> str | None:
    return next((path for path in map(shutil.which, _NAMES) if path), None)
