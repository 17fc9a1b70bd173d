"""Workers that release and render until nothing is left to do, and kill themselves on the way.

Run as a process of its own: `python -m tests.portal.releases.killing DATABASE DATA KEYS MOMENT
ROUND …`. A round is one place or several, `stored+signed`: as many workers at a time, each of which
dies at its place. After the last round two workers do what is left. Each worker is a process with
connections of its own, forked before there is any: what they all have in common is loaded once.
The hook is hung here, in the test's own process; the program knows nothing of it. Noise is off,
through a class for tests alone, so that a sum can be compared with the truth.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.privacy.without_noise import turn_noise_off


def main(database: str, data: str, keys: str, moment: str, *rounds: str) -> None:
    _settle_in(database, data, keys)
    from aggregation.clock import ManualClock

    import_module("portal.urls")  # all that workers use, loaded before they fork
    turn_noise_off()
    clock = ManualClock(datetime.fromisoformat(moment).replace(tzinfo=UTC))
    for places in rounds:
        ends = _ends_of(places.split("+"), clock)
        if set(ends) != {-signal.SIGKILL}:
            sys.exit(f"Not every worker died at {places}: {ends}.")
    sys.exit(max(map(abs, _ends_of(["", ""], clock))))


def _ends_of(places: Sequence[str], clock: Any) -> list[int]:
    """Workers side by side, one for each place, and how each came to its end."""
    workers = [_forked(place, clock) for place in places]
    return [os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) for worker in workers]


def _forked(place: str, clock: Any) -> int:
    from portal.releases import failpoints

    if worker := os.fork():
        return worker
    failpoints.hook = _killer(place)
    try:
        _work(clock)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _settle_in(database: str, data: str, keys: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    import django
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = database
    settings.DATA, settings.KEYS_DIR = Path(data), Path(keys)
    # A heartbeat's thread of a living worker can be late on a busy machine.
    settings.SESSION_LAPSE_SECONDS = 1
    settings.HEARTBEAT_SECONDS = 0.2
    django.setup()


def _killer(place: str) -> Any:
    def hook(name: str) -> None:
        if name == place:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def _work(clock: Any) -> None:
    """A window at a time, so that there is something left for whoever comes next."""
    from portal.collection import placing
    from portal.releases import running, selectors

    while _is_left(clock):
        placing.bury_lapsed(clock=clock)
        if window := selectors.next_due(clock.now()):
            _release(window, clock)
        running.render_releases()
        time.sleep(0.02)
    running.restore_files()


def _is_left(clock: Any) -> bool:
    from django.db.models import Q

    from portal.releases.models import Release
    from portal.tasks.models import TaskWindow

    due = Q(state="grace", due_at__lte=clock.now()) | Q(state="releasing")
    unrendered = Release.objects.filter(rendering=None).exists()
    return unrendered or TaskWindow.objects.filter(due).exists()


def _release(window: Any, clock: Any) -> None:
    from portal.problems import Conflict
    from portal.releases.services import release_window

    with contextlib.suppress(Conflict):  # the other one was quicker
        release_window(window=window, clock=clock, worker=str(os.getpid()))


if __name__ == "__main__":
    main(*sys.argv[1:])
