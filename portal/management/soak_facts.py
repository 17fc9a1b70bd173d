"""What a soak is judged by, when everything is over and has expired."""

from collections import Counter, defaultdict
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.sessions.models import Session as LoginSession
from django.db.models import Count, Q

from portal.accounts.models import LoginFailure
from portal.accounts.sign_in import WINDOW as FAILURES_KEPT
from portal.audit.verification import verify_log
from portal.collection import at_rest
from portal.collection.fleet_counts import DAYS_KEPT, WEEKS_KEPT
from portal.collection.keys import partial_keys
from portal.collection.models import FleetCount, HandOver, Partial, Receipts, Session
from portal.ledger.models import Charge, Week
from portal.ledger.weeks import mondays
from portal.notifications.models import Delivery
from portal.releases.models import Attempt, Release
from portal.releases.signing import read_card
from portal.releases.verification import checks_of
from portal.tasks.models import TaskWindow
from portal.valkey import queue_client

_State = TaskWindow.State
_DONE = (_State.RELEASED, _State.SKIPPED)


def facts(now: datetime) -> dict[str, Any]:
    windows = TaskWindow.objects.select_related("task").order_by("start", "task__name")
    released = windows.filter(state=_State.RELEASED)
    checks = [
        check
        for release in Release.objects.select_related("rendering", "window__task").iterator()
        for check in checks_of(release)
    ]
    verification = verify_log(whole=True)
    return {
        "states": dict(Counter(windows.values_list("state", flat=True))),
        "skipped": dict(
            Counter(windows.filter(state=_State.SKIPPED).values_list("reason", flat=True))
        ),
        "released": list(released.values_list("task__name", "window")),
        "unsettled": windows.exclude(state__in=_DONE).count(),
        "not_once": _not_once(),
        "ledger": _ledger(),
        "left": _left(now),
        "not_sure": [check.title for check in at_rest.checks() if not check.ok],
        "chain": {"entries": verification.seq, "problem": verification.problem},
        "signed": {"checks": len(checks), "failed": sum(not check.holds for check in checks)},
    }


def _not_once() -> int:
    """Windows that are released, but not with one release; or have one, and are not released."""
    counted = TaskWindow.objects.annotate(releases=Count("release"))
    wrong = Q(state=_State.RELEASED) & ~Q(releases=1) | ~Q(state=_State.RELEASED) & Q(
        releases__gt=0
    )
    return counted.filter(wrong).count()


def _ledger() -> list[dict[str, Any]]:
    """By stream and week, in hundredths of ε: what is spent, beside what the signed cards of
    releases say, and what windows cost that were touched and then skipped."""
    cards: dict[tuple[str, date], int] = defaultdict(int)
    for release in Release.objects.select_related("window__revision").defer("noised"):
        epsilon = int(Decimal(read_card(release.card).epsilon) * 100)
        for monday in mondays(release.window.as_window()):
            for stream in release.window.revision.streams:
                cards[stream, monday] += epsilon
    touched = _touched()
    return [
        {
            "stream": week.stream,
            "monday": week.monday.isoformat(),
            "cap": week.cap,
            "reserved": week.reserved,
            "spent": week.spent,
            "released": cards[week.stream, week.monday],
            "touched": touched.get(week.pk, 0),
        }
        for week in Week.objects.all()
    ]


def _touched() -> dict[int, int]:
    skipped = set(
        TaskWindow.objects.filter(state=_State.SKIPPED).values_list("task__name", "window")
    )
    found: dict[int, int] = defaultdict(int)
    for charge in Charge.objects.filter(state=Charge.State.SPENT):
        if (charge.task, charge.window) in skipped:
            found[charge.week_id] += charge.amount
    return found


def _left(now: datetime) -> dict[str, int]:
    """What should be gone by its own rule, and is not."""
    machine, today = datetime.now(UTC), now.date()
    over = Q(window__state__in=_DONE)
    old_day = Q(span=FleetCount.Span.DAY, start__lte=today - timedelta(days=DAYS_KEPT))
    old_week = Q(span=FleetCount.Span.WEEK, start__lte=today - timedelta(weeks=WEEKS_KEPT))
    return {
        "partials with a body": Partial.objects.filter(over).exclude(body=b"").count(),
        "partials past their time": Partial.objects.filter(
            state=Partial.State.STORED, expires_at__lte=now
        ).count(),
        "keys of partials": len(partial_keys().names()),
        "receipts": Receipts.objects.filter(over).count(),
        "ids of updates handed over": HandOver.objects.filter(over, ids__isnull=False).count(),
        "sessions that serve nobody": Session.objects.filter(state__in=Session.ALIVE).count(),
        "queues without a session": _queues(),
        "attempts at releases": Attempt.objects.filter(over).count(),
        "login sessions": LoginSession.objects.filter(expire_date__lte=machine).count(),
        "failed sign-ins": LoginFailure.objects.filter(
            at__lte=machine - FAILURES_KEPT - timedelta(hours=1)
        ).count(),
        "old counts of the fleet": FleetCount.objects.filter(old_day | old_week).count(),
        "deliveries past their time": Delivery.objects.filter(
            state=Delivery.State.QUEUED, due_at__lte=machine - timedelta(hours=1)
        ).count(),
    }


def _queues() -> int:
    """Of sessions that are over, whatever is still in Valkey but who ran them: that has its own
    time to live."""
    found = {
        key.split(b":")[2].decode()
        for key in queue_client().scan_iter("mayfly:session:*")
        if not key.endswith(b":owner")
    }
    alive = set(Session.objects.filter(state__in=Session.ALIVE).values_list("pk", flat=True))
    return len(found - alive)
