"""What is going on: the next release and when it comes, the latest one, and how many devices."""

from dataclasses import dataclass
from datetime import datetime

from aggregation.clock import Clock, SimulatedClock
from aggregation.pace import real_seconds
from portal.accounts.models import Person
from portal.collection.coarse import SMALLEST, coarse
from portal.collection.models import ActiveDevices
from portal.releases.finding import known_windows
from portal.releases.models import Release
from portal.releases.selectors import releases_for
from portal.tasks.models import TaskWindow
from portal.tasks.rights import READERS

_State = TaskWindow.State
_TO_COME = (_State.UPCOMING, _State.COLLECTING, _State.GRACE, _State.RELEASING)


@dataclass(frozen=True)
class Now:
    # Civil time.
    at: datetime
    is_simulated: bool
    # Of those that the viewer may know of, the window that is released next; others may be due at
    # the same moment.
    next: TaskWindow | None
    others: int
    opens_tasks: bool
    # Until then, in real time; nothing while the clock stands still.
    seconds: int | None
    latest: Release | None
    devices: str
    populations: int


def now(viewer: Person, *, clock: Clock) -> Now:
    at = clock.now()
    coming = known_windows(viewer, TaskWindow.objects.filter(state__in=_TO_COME))
    coming = coming.select_related("task")
    first = coming.order_by("due_at", "task__name").first()
    active = [row.count for row in ActiveDevices.objects.all()]
    return Now(
        at=at,
        is_simulated=isinstance(clock, SimulatedClock),
        next=first,
        others=coming.filter(due_at=first.due_at).count() - 1 if first else 0,
        opens_tasks=viewer.has_role(*READERS),
        seconds=_seconds(clock, at, first.due_at) if first else None,
        latest=releases_for(viewer).first(),
        devices=coarse(sum(active)),
        populations=sum(count >= SMALLEST for count in active),
    )


def _seconds(clock: Clock, start: datetime, end: datetime) -> int | None:
    speed = clock.speed if isinstance(clock, SimulatedClock) else 1.0
    found = real_seconds(start.timestamp(), end.timestamp(), speed=speed)
    return None if found is None else round(found)
