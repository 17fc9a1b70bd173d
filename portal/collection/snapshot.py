"""What front ends know: the open tasks and sessions, published to the queues every beat.

Only revisions whose approval verifies are in it: a row that somebody wrote into the database
without the key reaches no device.
"""

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.conf import settings

from aggregation.clock import Clock
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.sealing import max_sealed
from aggregation.protocol.update import Shape
from portal.collection import live
from portal.collection.models import Session
from portal.collection.said import said
from portal.collection.selectors import held_by_all, open_sessions, revisions_to_collect
from portal.tasks.models import Population, Revision, TaskWindow
from portal.tasks.signing import approval_for, is_trusted
from portal.valkey import queue_client


def publish_snapshot(*, clock: Clock) -> None:
    found = json.dumps(snapshot(clock=clock))
    queue_client().set(live.SNAPSHOT, found, px=live.lasting_ms())


def snapshot(*, clock: Clock) -> dict[str, Any]:
    now = clock.now()
    tasks = [
        _task(revision, windows)
        for revision, windows in revisions_to_collect(now).items()
        if is_trusted(revision)
    ]
    sessions = [one["id"] for task in tasks for one in task["sessions"]]
    queued = [live.queue_length(session) for session in sessions]
    return {
        "at": now.isoformat(),
        "populations": list(Population.objects.values_list("name", flat=True)),
        "tasks": tasks,
        **_next_due(now),
        "busy": _in_quarters(max(queued, default=0) / settings.QUEUE_LENGTH),
    }


def _in_quarters(busy: float) -> float:
    """Anyone may ask when to check in next, and could count in the answer who has just arrived."""
    return math.floor(4 * min(1.0, busy)) / 4


def _task(revision: Revision, windows: Sequence[TaskWindow]) -> dict[str, Any]:
    client_task = msgspec.json.decode(revision.client_task_json, type=ClientTask)
    assert revision.approver is not None and revision.approved_at is not None  # noqa: S101, PT018
    approval = approval_for(
        revision, approver=revision.approver, approved_at=revision.approved_at.astimezone(UTC)
    )
    return {
        "task": revision.task.name,
        "client_task": revision.client_task_sha256,
        "populations": list(client_task.populations),
        "window_unit": revision.window_unit,
        "windows": sorted(row.window for row in windows),
        "eligibility": msgspec.to_builtins(client_task.eligibility),
        "schedule": msgspec.to_builtins(client_task.schedule),
        "approval": msgspec.to_builtins(approval),
        "signature": revision.signature,
        "key_id": revision.key_id,
        "max_sealed": max_sealed(Shape.of(client_task)),
        "sessions": _sessions(held_by_all(list(open_sessions(revision)), windows)),
    }


def _sessions(rows: Sequence[Session]) -> list[dict[str, Any]]:
    """Those that speak, by what they and their queues say; to one that is stuck nobody is sent.

    One that has a reason to end takes no more, and waits for those who are on their way.
    """
    found = said([row.pk for row in rows])
    return [
        {
            "id": row.pk,
            "public_key": row.public_key,
            "signature": row.signature,
            "load": 1.0 if row.reason else round(found[row.pk].load, 3),
        }
        for row in rows
        if row.pk in found and not found[row.pk].is_stuck
    ]


def _next_due(now: datetime) -> dict[str, float | None]:
    """Civil seconds to the next moment at which a window is over and opens for devices, and for
    how long it will be open."""
    coming = TaskWindow.State.UPCOMING, TaskWindow.State.COLLECTING
    first = (
        TaskWindow.objects.filter(state__in=coming, end__gt=now).order_by("end", "due_at").first()
    )
    return {
        "next_due_seconds": (first.end - now).total_seconds() if first else None,
        "next_due_open_seconds": (first.due_at - first.end).total_seconds() if first else None,
    }
