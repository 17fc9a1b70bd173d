"""Reading what is open, who holds what, and what became of a session's updates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Exists, Min, OuterRef, QuerySet

from aggregation.sessions.receipts import has_receipt
from portal.collection.models import HandOver, Hold, Partial, Receipts, Session
from portal.tasks.models import Revision, TaskWindow


def open_windows(now: datetime) -> QuerySet[TaskWindow]:
    """Windows that devices may send: over, still in grace, and nobody has begun to collect them.

    The last holds for good, also for a clock that is set back.
    """
    collectors = Session.objects.filter(collects=OuterRef("pk"))
    found = TaskWindow.objects.filter(state=TaskWindow.State.GRACE, due_at__gt=now)
    return found.exclude(Exists(collectors)).order_by("start")


def revisions_to_collect(now: datetime) -> dict[Revision, list[TaskWindow]]:
    """Revisions with open windows, the one whose window is due first before the others."""
    rows = open_windows(now).select_related("revision__task", "revision__approver")
    found: dict[Revision, list[TaskWindow]] = {}
    for row in sorted(rows, key=lambda row: (row.due_at, row.pk)):
        found.setdefault(row.revision, []).append(row)
    return found


def first_expiry(window: TaskWindow) -> datetime | None:
    """When the first of a window's stored partials becomes unreadable; nothing if there is none."""
    stored = Partial.objects.filter(window=window, state=Partial.State.STORED)
    found: datetime | None = stored.aggregate(first=Min("expires_at"))["first"]
    return found


def open_sessions(revision: Revision) -> QuerySet[Session]:
    """Those that take what devices send."""
    return revision.sessions.filter(state=Session.State.OPEN, collects=None)


def serving(revision: Revision) -> QuerySet[Session]:
    """Open sessions that devices are sent to."""
    return open_sessions(revision).filter(reason="")


def holders(window: TaskWindow) -> QuerySet[Session]:
    """Sessions that may hold something of a window."""
    ids = Hold.objects.filter(window=window).values("session_id")
    return Session.objects.filter(pk__in=ids, state__in=Session.ALIVE)


def collector_of(window: TaskWindow) -> Session | None:
    return Session.objects.filter(collects=window, state=Session.State.OPEN).first()


def latest_collector(window: TaskWindow) -> Session | None:
    """The one that lives, of which there is one at a time; else one that died."""
    found = window.collectors.order_by("requested_at", "pk")
    return found.filter(state__in=Session.ALIVE).last() or found.last()


def kept() -> QuerySet[HandOver]:
    """What went to a collector that has not used it yet: whoever handed it over keeps it, too."""
    rows = HandOver.objects.filter(successor__collects__isnull=False)
    closing = (TaskWindow.State.GRACE, TaskWindow.State.RELEASING)
    rows = rows.filter(window__state__in=closing)
    return rows.exclude(successor__state=Session.State.FLUSHED)


def outstanding(session: Session) -> QuerySet[HandOver]:
    """What was handed over to a session and has not arrived."""
    return HandOver.objects.filter(successor=session, received=False).select_related("session")


@dataclass(frozen=True)
class Outcome:
    """What became of the updates sent to one session."""

    # Nothing about them will change any more.
    over: bool
    # Window id → packed ids of the updates that are counted in it.
    receipts: dict[str, bytes] = field(default_factory=dict)
    # Of a session that has ended: packed ids of those that are still in somebody's memory. Unless
    # they are known, any could be.
    in_memory: tuple[bytes, ...] | None = None

    def counted(self, update: str) -> tuple[str, ...] | None:
        """The windows in which an update is counted for good; nothing while that is open."""
        if not self.over and (
            self.in_memory is None or any(has_receipt(ids, update) for ids in self.in_memory)
        ):
            return None
        return tuple(sorted(w for w, ids in self.receipts.items() if has_receipt(ids, update)))


def outcome(session_id: str) -> Outcome | None:
    """What became of a session's updates; nothing for a session that nobody knows.

    A session that handed a window over is not over before whoever took it: until then the updates
    in it are neither counted nor lost, and a device that sent them again would be counted twice.
    """
    session = Session.objects.filter(pk=session_id, collects=None).first()
    if session is None:
        return None
    if session.state not in _OVER:
        return Outcome(over=False)
    waiting = _in_memory(HandOver.objects.filter(session=session))
    rows = Receipts.objects.filter(session=session).select_related("window")
    return Outcome(
        over=not waiting,
        receipts={row.window.window: bytes(row.ids) for row in rows},
        in_memory=_ids_of(waiting),
    )


_OVER = (Session.State.FLUSHED, Session.State.DEAD)


def _in_memory(hand_overs: QuerySet[HandOver]) -> list[HandOver]:
    """Those of them that are still in somebody's memory, however often they went on."""
    return [one for one in hand_overs.select_related("successor") if _waits(one)]


def _waits(one: HandOver) -> bool:
    if one.successor.state not in _OVER:
        return True
    further = HandOver.objects.filter(session=one.successor, window_id=one.window_id)
    return bool(_in_memory(further))


def _ids_of(hand_overs: Sequence[HandOver]) -> tuple[bytes, ...] | None:
    found = [one.ids for one in hand_overs]
    return None if None in found else tuple(bytes(ids) for ids in found if ids)


def held_by_all(sessions: Sequence[Session], windows: Iterable[TaskWindow]) -> list[Session]:
    """Of these sessions, those that hold all of the windows."""
    wanted = {window.pk for window in windows}
    found: dict[str, set[int]] = {}
    for session_id, window_id in Hold.objects.filter(session__in=sessions).values_list(
        "session_id", "window_id"
    ):
        found.setdefault(session_id, set()).add(window_id)
    return [one for one in sessions if wanted <= found.get(one.pk, set())]
