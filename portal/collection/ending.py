"""Why a session should end now, and whether everyone it needs for that is there.

`min_contributions` decides where a sum may wait, never whether it counts. So a session that holds
a small window ends only when somebody can take that window over: its collector, if its release
has begun, or another session. A worker that stops is a different matter: its sessions have to end
whether anybody is there or not. If then the big windows were stored and the small ones lost, one
device more or less would decide over all the others of its window. Therefore at a drain **every**
held window needs somebody to take over, whatever its size, or the session dies as a whole.

The same holds for a window that has closed, whose devices cannot send again: were a large sum
stored at once while a small one waits for its collector, a process that dies in between would
lose the one and not the other. So both wait for the collector, and where several windows have
closed, for one each. But a release that cannot be made for long, such as one whose approval does
not verify, must not lose everything with the first process that stops. So each window waits for
ten minutes, as long as a release is left alone at most. After that a large sum is stored, and a
small one goes to the window's next collector, whose turn has come at least once: few collectors
are there at a time, and a session that waited for all of its own at once could wait for ever.
Until the next one comes, the small one is kept (`keeping`). What a death costs then has its place
in the threat model.
"""

from collections.abc import Collection
from dataclasses import dataclass

from aggregation.protocol.windows import Window
from portal.collection import handing_over
from portal.collection.flushing import Takers
from portal.collection.models import Session
from portal.collection.run import Run
from portal.collection.selectors import latest_collector
from portal.tasks.models import TaskWindow

Reason = Session.Reason


@dataclass(frozen=True)
class Standing:
    """How a held window stands: all that decides whether its sum may leave, and to whom."""

    is_small: bool
    # It takes no more parts.
    is_closed: bool
    # It has been closed for longer than a sum waits for its collector.
    is_late: bool
    # The last that it had; if it lives, that one.
    collector: Session | None

    @property
    def is_collected(self) -> bool:
        return self.collector is not None and self.collector.state == Session.State.OPEN

    @property
    def may_leave(self) -> bool:
        """Not for its size: whether its sum is waited for, or has waited for long enough."""
        return not self.is_closed or self.is_collected or self.is_late

    @property
    def is_waited_for(self) -> bool:
        """Of a closed window: there is a place where its release finds its sum."""
        return self.is_collected or (self.is_late and not self.is_small) or self._is_to_be_kept

    def taker(self, other: Session | None, *, is_draining: bool) -> Session | None:
        """Its collector, once it has had one; a dead one stands for the next, for which the sum is
        kept, but not by a worker that stops. Before there is any, another session."""
        if self.collector is None:
            return other
        is_there = self.is_collected or (self._is_to_be_kept and not is_draining)
        return self.collector if is_there else None

    @property
    def _is_to_be_kept(self) -> bool:
        had_one = self.collector is not None and self.collector.state == Session.State.DEAD
        return self.is_late and had_one


def why_end(run: Run) -> Reason:
    """The reason to end, if there is one; a session with a reason gets no new devices."""
    summing = run.summing
    run.note_closed()
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
    may_leave = all(standing(run, window).may_leave for window in run.summing.windows_closed)
    return may_leave and find_takers(run, run.summing.windows_small) is not None


def find_takers(run: Run, windows: Collection[Window]) -> Takers | None:
    """Who takes over each of the windows; nothing if somebody is missing."""
    run.note_closed()
    other, draining = handing_over.other_session(run.row), run.is_draining()
    found = {w: standing(run, w).taker(other, is_draining=draining) for w in windows}
    takers = {window: taker for window, taker in found.items() if taker is not None}
    return takers if takers.keys() == set(windows) else None


def standing(run: Run, window: Window) -> Standing:
    return Standing(
        is_small=window in run.summing.windows_small,
        is_closed=window in run.closed_at,
        is_late=run.is_late(window),
        collector=latest_collector(run.windows[window]),
    )


def note_reason(run: Run, reason: Reason) -> None:
    """Tell the controller, who then sees to a successor, and the front ends."""
    if reason and reason != run.row.reason:
        Session.objects.filter(pk=run.row.pk, state=Session.State.OPEN).update(reason=reason)
        run.row.reason = reason


def _is_waited_for(run: Run) -> bool:
    """Something has closed, and all that has closed can go where its release finds it."""
    closed = run.summing.windows_closed
    return bool(closed) and all(standing(run, window).is_waited_for for window in closed)


def _is_more_coming(run: Run) -> bool:
    """A window is over that it has no hold on yet, or that is not in grace yet."""
    now, closing = run.clock.now(), (TaskWindow.State.RELEASING, TaskWindow.State.RELEASED)
    found = run.row.revision.windows.filter(end__lte=now, due_at__gt=now)
    return found.exclude(state__in=[*closing, TaskWindow.State.SKIPPED]).exists()


def _is_old(run: Run) -> bool:
    return run.age_seconds >= 60 * run.config.aggregation.max_session_minutes
