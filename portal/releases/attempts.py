"""Attempts at a release: what keeps failing is tried less and less often.

An attempt is noted before it begins, so one whose worker dies counts like one that fails. Each
leaves a dead collector, and asks every session that holds the window to end: once every ten minutes
is enough of that. Pauses are machine time. But the keys of what is stored for the window die in
civil time, which may run thousands of times as fast: no pause lasts for more than half of what is
left to the first of them.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q

from aggregation.clock import Clock
from portal.collection.selectors import first_expiry
from portal.releases.models import Attempt
from portal.tasks.models import TaskWindow

LONGEST = timedelta(minutes=10)


def begin(*, window: TaskWindow, clock: Clock) -> bool:
    """Note that it is tried; False if somebody else has just begun, or it is too soon."""
    first = {"times": 1, **_until(window, 1, clock)}
    row, is_first = Attempt.objects.get_or_create(window=window, defaults=first)
    more = row.times + 1
    waiting = Attempt.objects.filter(over(clock.now()), pk=row.pk, times=row.times)
    return is_first or bool(waiting.update(times=more, **_until(window, more, clock)))


def failed(*, window: TaskWindow, clock: Clock) -> timedelta:
    """How long the window is left alone from now on, at most."""
    times = Attempt.objects.filter(window=window).values_list("times", flat=True).first() or 1
    Attempt.objects.filter(window=window).update(**_until(window, times, clock))
    return pause_after(times)


def forget(*, window: TaskWindow) -> None:
    """It did not fail."""
    Attempt.objects.filter(window=window).delete()


def over(now: datetime) -> Q:
    """Attempts whose pause has ended, in machine time or in civil time."""
    return Q(next_at__lte=datetime.now(UTC)) | Q(try_by__isnull=False, try_by__lte=now)


def pause_after(times: int) -> timedelta:
    """A heartbeat, then twice as long each time."""
    beats = 2 ** min(times - 1, 30)
    return min(timedelta(seconds=settings.HEARTBEAT_SECONDS) * beats, LONGEST)


def _until(window: TaskWindow, times: int, clock: Clock) -> dict[str, Any]:
    now, expiry = clock.now(), first_expiry(window)
    return {
        "next_at": datetime.now(UTC) + pause_after(times),
        "try_by": now + (expiry - now) / 2 if expiry and expiry > now else None,
    }
