"""A session that is being run: its row, its keys, its memory, and what it asks the database."""

import logging
import math
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.conf import settings
from django.db import connection, transaction

from aggregation.clock import Clock
from aggregation.protocol.sealing import SessionKeys
from aggregation.protocol.server_config import ServerConfig
from aggregation.protocol.windows import Window
from aggregation.sessions.session import Session as Summing
from portal.collection import handing_over, live
from portal.collection.beating import patience_seconds
from portal.collection.flushing import SessionOver
from portal.collection.leaving import HIGHER_LASTS
from portal.collection.metering import Meters
from portal.collection.models import Hold, Session
from portal.collection.opening import hold_open_windows, windows_to_hold
from portal.collection.selectors import open_windows, outstanding
from portal.tasks.models import TaskWindow

log = logging.getLogger(__name__)

# Machine time after which the log says again what keeps a session waiting.
COMPLAIN_SECONDS = 60.0
# Machine time for which a closed window's sum waits for its collector, whatever its size.
MOST_WAIT_SECONDS = 600.0


@dataclass(repr=False)
class Run:
    row: Session
    config: ServerConfig
    keys: SessionKeys
    summing: Summing
    clock: Clock
    # Whether its worker is stopping.
    is_draining: Callable[[], bool]
    # Windows it has a hold on.
    windows: dict[Window, TaskWindow] = field(default_factory=dict)
    meters: Meters = field(default_factory=Meters)
    # Machine time since which a part it needs is away.
    waits_since: float | None = None
    # Machine time since which a window is known to be closed.
    closed_at: dict[Window, float] = field(default_factory=dict)
    # What others handed over to it.
    arrivals: handing_over.Arrivals = field(default_factory=handing_over.Arrivals)
    # Machine time of its last call.
    called_at: float | None = None
    # What its log said last, and when.
    complaints: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Run({self.row.pk}, contents withheld)"

    @property
    def age_seconds(self) -> float:
        assert self.row.opened_at is not None  # noqa: S101 - kept by the database
        return (datetime.now(UTC) - self.row.opened_at).total_seconds()

    @property
    def patience(self) -> float:
        """Seconds for which it may yet wait for what is away."""
        waited = time.monotonic() - self.waits_since if self.waits_since is not None else 0.0
        return max(0.0, patience_seconds() - waited)

    def complain(self, words: str, level: int = logging.WARNING) -> None:
        """Say in the log what keeps it waiting, and not every second that it still does."""
        now = time.monotonic()
        if now >= self.complaints.get(words, -math.inf) + COMPLAIN_SECONDS:
            self.complaints[words] = now
            log.log(level, "Session %s %s", self.row.pk, words)

    def beat(self) -> None:
        """Say that it is alive, and how it is: exact, for the control loop only."""
        most = max([self.summing.accepted, *map(self.summing.contributions, self.windows)])
        load = most / self.config.aggregation.max_contributions
        now, queued = time.monotonic(), live.queue_length(self.row.pk)
        self.meters.found_queued(queued, now=now)
        live.beat(
            self.row.pk,
            {
                "contributions": self.summing.accepted,
                "queue": queued,
                "counts": {str(reason): n for reason, n in self.summing.counts.items()},
                "load": 1.0 if self.summing.is_full() else round(min(1.0, load), 3),
                "most": self.config.aggregation.max_contributions,
                **self.meters.said(now),
            },
        )

    def refresh(self) -> None:
        """See what the database says: am I still open, and which windows are?"""
        rows = Session.objects.filter(pk=self.row.pk, state=Session.State.OPEN)
        reason = rows.values_list("reason", flat=True).first()
        if reason is None:
            raise SessionOver(self.row.pk)
        self.row.reason = reason
        if windows_to_hold(self.row, clock=self.clock).exists():
            hold_open_windows(self.row, clock=self.clock)
        self.read_holds()
        still = open_windows(self.clock.now()).filter(pk__in=[w.pk for w in self.windows.values()])
        self.summing.set_open([row.as_window() for row in still])
        self.drop_expired()
        self._give_up_empty_windows({row.pk for row in still})

    def close_due(self) -> None:
        """What is over by the clock takes no more, also while the database cannot be asked: nobody
        would know that its release has begun, or what became of a part that is sent anew."""
        now = self.clock.now()
        still = [w for w in self.summing.windows_open if self.windows[w].due_at > now]
        self.summing.set_open(still)

    def drop_expired(self) -> None:
        """What nobody comes for lives no longer in memory than it would if it were stored."""
        self.close_due()
        for window in self.summing.windows_closed:
            expires_at = self.windows[window].due_at + HIGHER_LASTS
            if self.is_late(window) and self.clock.now() >= expires_at:
                self.summing.drop(window)
                log.error("Session %s drops %s, which was not released.", self.row.pk, window)

    def note_closed(self) -> None:
        now, closed = self.clock.now(), self.summing.windows_closed
        for window, row in self.windows.items():
            if window in closed or row.due_at <= now:
                self.closed_at.setdefault(window, time.monotonic())

    def is_late(self, window: Window) -> bool:
        """Whether a closed window's sum has waited for its collector for long enough."""
        return time.monotonic() - self.closed_at.get(window, math.inf) >= MOST_WAIT_SECONDS

    def read_holds(self) -> None:
        holds = Hold.objects.filter(session=self.row).select_related("window")
        self.windows = {hold.window.as_window(): hold.window for hold in holds}

    def receive(self) -> None:
        handing_over.receive(self.row, self.keys, self._take_over)

    def _take_over(self, from_session: str, window_id: str, state: bytes) -> None:
        window = Window.parse(window_id, self.config.window_unit)
        self.summing.take_over(state, from_session=from_session, window=window)

    def _give_up_empty_windows(self, still_open: set[int]) -> None:
        """A closed window of which it has nothing, and gets nothing, need not wait for it."""
        for window, row in list(self.windows.items()):
            if row.pk not in still_open and not self.summing.contributions(window):
                self._give_up(window, row)

    def _give_up(self, window: Window, row: TaskWindow) -> None:
        awaited = outstanding(self.row).filter(window=row)
        overdue = list(awaited)
        if not self.arrivals.are_over(overdue):
            return
        with transaction.atomic():
            # Senders lock their successor: nothing is handed over meanwhile.
            Session.objects.select_for_update(no_key=True).get(pk=self.row.pk)
            if list(awaited.all()) == overdue:
                awaited.update(received=True)  # should it come after all, it finds no place
                Hold.objects.filter(session=self.row, window=row).delete()
                del self.windows[window]


def rest() -> None:
    """Give the connection back while there is nothing to ask: PostgreSQL's are few."""
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        connection.close()


def look_seconds() -> float:
    return min(1.0, float(settings.HEARTBEAT_SECONDS))


def where(error: BaseException) -> str:
    """The kind and the place of an error, without its words: those could hold a value."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames]
    return f"{type(error).__name__} at {', '.join(places)}"
