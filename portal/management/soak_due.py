"""What a soak waits for before it moves its clock on."""

from datetime import datetime
from typing import Any

from django.db.models import Q

from portal.collection.models import Session
from portal.releases.models import Release
from portal.tasks.models import TaskWindow

_State = TaskWindow.State


def due(now: datetime) -> dict[str, Any]:
    """Windows that are behind the clock, releases without files, windows that devices can send, the
    sessions that take them, and the civil moment, in seconds since 1970, at which something is due
    next."""
    late = (
        Q(state=_State.UPCOMING, start__lte=now)
        | Q(state=_State.COLLECTING, end__lte=now)
        | Q(state=_State.GRACE, due_at__lte=now)
        | Q(state=_State.RELEASING)
    )
    rows = TaskWindow.objects.select_related("task")
    unmade = Release.objects.filter(rendering=None).values_list("window__task__name", flat=True)
    taking = Session.objects.filter(state=Session.State.OPEN, reason="", collects=None)
    waiting = [f"{row} is {row.state}" for row in rows.filter(late)]
    return {
        "waiting": waiting,
        "unmade": [f"files of {name}" for name in unmade],
        "open": [(row.task.name, row.window) for row in rows.filter(state=_State.GRACE)],
        "sessions": list(taking.values_list("pk", flat=True)),
        "next": min((moment.timestamp() for moment in _moments(now)), default=1e12),
    }


def _moments(now: datetime) -> list[datetime]:
    found: list[datetime] = []
    for state, name in (
        (_State.UPCOMING, "start"),
        (_State.COLLECTING, "end"),
        (_State.GRACE, "due_at"),
    ):
        later = TaskWindow.objects.filter(state=state, **{f"{name}__gt": now})
        found += later.order_by(name).values_list(name, flat=True)[:1]
    return found
