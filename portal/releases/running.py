"""One heartbeat's work on releases: a window at a time, and nobody's trouble is the others'."""

import logging
import threading
import time
from collections.abc import Iterable

from aggregation.clock import Clock
from portal.audit import witness
from portal.collection.draining import is_draining
from portal.problems import Conflict
from portal.releases import attempts, rendering, selectors
from portal.releases.models import Release
from portal.releases.services import release_window
from portal.tasks.models import TaskWindow

log = logging.getLogger(__name__)

# Releases at a time, over all workers: each holds a whole sum in memory, and other jobs have to
# find a free place beside them.
IN_FLIGHT = 2
_rendering = threading.Lock()
# Releases whose files could not be made, by the hash of their numbers: how often in this process,
# and when last, in machine time.
_failed: dict[str, tuple[int, float]] = {}


def release_due_windows(*, clock: Clock, worker: str = "") -> None:
    """What fails stays due, and is tried again after a pause that grows."""
    tried: set[int] = set()
    while selectors.in_flight() < IN_FLIGHT and not is_draining():
        window = selectors.next_due(clock.now(), but=tried)
        if window is None:
            return
        tried.add(window.pk)
        if attempts.begin(window=window, clock=clock):
            _release(window, clock, worker)
            witness.remember()


def _release(window: TaskWindow, clock: Clock, worker: str) -> None:
    try:
        release_window(window=window, clock=clock, worker=worker)
    except Conflict as conflict:
        pause = attempts.failed(window=window, clock=clock)
        log.info("%s It is looked at again within %s.", conflict, pause)
    except Exception:
        pause = attempts.failed(window=window, clock=clock)
        log.exception(
            "Window %s of %s could not be released; it is tried again within %s.",
            window.window, window.task, pause,
        )  # fmt: skip
    else:
        attempts.forget(window=window)


def render_releases() -> None:
    """Make the files of releases that have none."""
    _render_each(selectors.releases_to_render())


def restore_files() -> None:
    """Make the files again that were lost or damaged."""
    _render_each(rendering.releases_without_files())


def _render_each(releases: Iterable[Release]) -> None:
    """One process makes one release's files at a time: other jobs have to find a free place."""
    if not _rendering.acquire(blocking=False):
        return
    try:
        for release in releases:
            if not _is_paused(release):
                _render(release)
    finally:
        _rendering.release()


def _is_paused(release: Release) -> bool:
    """What has failed twice is left alone for a while: others wait for its turn to end."""
    times, at = _failed.get(release.noised_sha256, (0, 0.0))
    pause = attempts.pause_after(times - 1).total_seconds()
    return times > 1 and time.monotonic() - at < pause


def _render(release: Release) -> None:
    try:
        rendering.render(release=selectors.whole_release(release.pk))
    except Exception:
        times, _ = _failed.get(release.noised_sha256, (0, 0.0))
        _failed[release.noised_sha256] = times + 1, time.monotonic()
        log.exception("The files of release %s could not be made.", release.pk)
    else:
        _failed.pop(release.noised_sha256, None)
