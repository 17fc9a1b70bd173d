"""Attempts at a release: what keeps failing is tried less and less often.

An attempt is noted before it begins, so one whose worker dies counts like one that fails. Each
leaves a dead collector, and asks every session that holds the window to end: once every ten minutes
is enough of that. Pauses are machine time.
"""

from datetime import UTC, datetime, timedelta

from django.conf import settings

from portal.releases.models import Attempt
from portal.tasks.models import TaskWindow

LONGEST = timedelta(minutes=10)


def begin(*, window: TaskWindow) -> bool:
    """Note that it is tried; False if somebody else has just begun, or it is too soon."""
    now = datetime.now(UTC)
    first = {"times": 1, "next_at": now + pause_after(1)}
    row, is_first = Attempt.objects.get_or_create(window=window, defaults=first)
    more = row.times + 1
    waiting = Attempt.objects.filter(pk=row.pk, times=row.times, next_at__lte=now)
    return is_first or bool(waiting.update(times=more, next_at=now + pause_after(more)))


def failed(*, window: TaskWindow) -> timedelta:
    """How long the window is left alone from now on."""
    times = Attempt.objects.filter(window=window).values_list("times", flat=True).first() or 1
    pause = pause_after(times)
    Attempt.objects.filter(window=window).update(next_at=datetime.now(UTC) + pause)
    return pause


def forget(*, window: TaskWindow) -> None:
    """It did not fail."""
    Attempt.objects.filter(window=window).delete()


def pause_after(times: int) -> timedelta:
    """A heartbeat, then twice as long each time."""
    beats = 2 ** min(times - 1, 30)
    return min(timedelta(seconds=settings.HEARTBEAT_SECONDS) * beats, LONGEST)
