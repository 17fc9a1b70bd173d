"""An app for tests: a release waits with its noised numbers in memory while a file is there.

So a test can kill a worker, or pull its cable, in the middle of a release. No part of the program.
"""

import os
import time
from pathlib import Path

from django.apps import AppConfig

PLACE = "noised"
VARIABLE = "HOLD_RELEASES"


class Holding(AppConfig):
    name = "tests.machines.holding"
    label = "holding"

    def ready(self) -> None:
        from portal.releases import failpoints

        failpoints.hook = _hold


def _hold(place: str) -> None:
    path = os.environ.get(VARIABLE)
    if place != PLACE or not path:
        return
    Path(path).with_suffix(".reached").touch()
    while Path(path).exists():
        time.sleep(0.05)
