"""Why a session should end now, and whether everyone it needs for that is there.

`min_contributions` decides where a sum may wait, never whether it counts. So a session that holds
a small window ends only when somebody can take that window over: its collector, if its release
has begun, or another session. A worker that stops is a different matter: its sessions have to end
whether anybody is there or not. If then the big windows were stored and the small ones lost, one
device more or less would decide over all the others of its window. Therefore at a drain **every**
held window needs somebody to take over, whatever its size, or the session dies as a whole.

The same holds for a window that has closed, whose devices cannot send again: were a large sum
stored at once while a small one waits for its collector, a process that dies in between would
lose the one and not the other. So both wait for the collector. But a release that cannot be made
for long, such as one whose approval does not verify, must not lose everything with the first
process that stops. So a sum that can be stored waits for ten minutes, as long as a release is
left alone at most; what a death costs after that has its place in the threat model.
"""

import time
from collections.abc import Collection

from aggregation.protocol.windows import Window
from portal.collection import handing_over
from portal.collection.flushing import Takers
from portal.collection.models import Session
from portal.collection.run import Run
from portal.collection.selectors import collector_of
from portal.tasks.models import TaskWindow

Reason = Session.Reason
# Machine seconds for which a closed window's sum waits for its collector though it can be stored.
MOST_WAIT_SECONDS = 600.0


def why_end(run: Run) -> Reason:
    """The reason to end, if there is one; a session with a reason gets no new devices."""
    summing = run.summing
    held, small = summing.windows_held, set(summing.windows_small)
    if run.is_draining():
        return Reason.DRAIN
    if _is_waited_for(run):
        return Reason.WINDOW_CLOSED
    if summing.is_full():
        return Reason.FULL
    if len(small) < len(held) and _is_old(run):
        return Reason.OLD
    if not held and not run.windows and not _is_more_coming(run):
        return Reason.IDLE
    return Reason.QUIET if run.row.reason == Reason.QUIET else Reason.NONE


def is_ready(run: Run, reason: Reason) -> bool:
    """A worker that stops waits for nobody here: its sessions take no more, and look for takers."""
    if reason == Reason.DRAIN:
        return True
    may_leave = reason == Reason.WINDOW_CLOSED or not run.summing.windows_closed or _is_late(run)
    return may_leave and find_takers(run, run.needs_takers()) is not None


def find_takers(run: Run, windows: Collection[Window]) -> Takers | None:
    """Who takes over each of the windows; nothing if somebody is missing."""
    rows = {run.windows[window]: window for window in windows}
    found = handing_over.successors(run.row, list(rows))
    takers = {rows[row]: taker for row, taker in found.items()}
    return takers if takers.keys() == set(windows) else None


def note_reason(run: Run, reason: Reason) -> None:
    """Tell the controller, who then sees to a successor, and the front ends."""
    if reason and reason != run.row.reason:
        Session.objects.filter(pk=run.row.pk, state=Session.State.OPEN).update(reason=reason)
        run.row.reason = reason


def _is_waited_for(run: Run) -> bool:
    """A closed window's release has begun, or is not to be had; its sum can be stored then without
    anybody."""
    closed = run.summing.windows_closed
    if not closed:
        run.closed_at = None
        return False
    run.closed_at = run.closed_at or time.monotonic()
    if any(collector_of(run.windows[window]) for window in closed):
        return True
    return _is_late(run) and not set(closed) & set(run.summing.windows_small)


def _is_late(run: Run) -> bool:
    """Whether what has closed has waited for its release for long enough."""
    return run.closed_at is not None and time.monotonic() - run.closed_at >= MOST_WAIT_SECONDS


def _is_more_coming(run: Run) -> bool:
    """A window is over that it has no hold on yet, or that is not in grace yet."""
    now, closing = run.clock.now(), (TaskWindow.State.RELEASING, TaskWindow.State.RELEASED)
    found = run.row.revision.windows.filter(end__lte=now, due_at__gt=now)
    return found.exclude(state__in=[*closing, TaskWindow.State.SKIPPED]).exists()


def _is_old(run: Run) -> bool:
    return run.age_seconds >= 60 * run.config.aggregation.max_session_minutes
