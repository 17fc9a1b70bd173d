"""Why a session should end now, and whether everyone it needs for that is there.

`min_contributions` decides where a sum may wait, never whether it counts. So a session that holds
a small window ends only when somebody can take that window over: its collector, if its release
has begun, or another session. A worker that stops is a different matter: its sessions have to end
whether anybody is there or not. If then the big windows were stored and the small ones lost, one
device more or less would decide over all the others of its window. Therefore at a drain **every**
held window needs somebody to take over, whatever its size, or the session dies as a whole.
"""

from collections.abc import Collection

from aggregation.protocol.windows import Window
from portal.collection import handing_over
from portal.collection.flushing import Takers
from portal.collection.models import Session
from portal.collection.run import Run
from portal.collection.selectors import collector_of
from portal.tasks.models import TaskWindow

Reason = Session.Reason


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
    return reason == Reason.DRAIN or find_takers(run, run.needs_takers()) is not None


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
    """A closed window's release has begun, or its sum can be stored without anybody."""
    closed = run.summing.windows_closed
    if not closed:
        return False
    if not set(closed) & set(run.summing.windows_small):
        return True
    return any(collector_of(run.windows[window]) for window in closed)


def _is_more_coming(run: Run) -> bool:
    """A window is over that it has no hold on yet, or that is not in grace yet."""
    now, closing = run.clock.now(), (TaskWindow.State.RELEASING, TaskWindow.State.RELEASED)
    found = run.row.revision.windows.filter(end__lte=now, due_at__gt=now)
    return found.exclude(state__in=[*closing, TaskWindow.State.SKIPPED]).exists()


def _is_old(run: Run) -> bool:
    return run.age_seconds >= 60 * run.config.aggregation.max_session_minutes
