"""Reading what is due, and what is released for whom."""

from collections.abc import Collection
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, Q, QuerySet

from portal.accounts.models import Person, Role
from portal.accounts.selectors import people_with_role
from portal.collection.models import Session
from portal.releases import attempts
from portal.releases.models import Attempt, Release
from portal.tasks.models import TaskWindow

_State = TaskWindow.State


def due_windows(now: datetime) -> QuerySet[TaskWindow]:
    """Windows whose grace is over and that nobody releases just now, the longest due first.

    One that was left in `releasing` by a collector that died is among them.
    """
    over = Q(state=_State.GRACE, due_at__lte=now) | Q(state=_State.RELEASING)
    living = Session.objects.filter(collects=OuterRef("pk"), state__in=Session.ALIVE)
    rows = TaskWindow.objects.filter(over).exclude(Exists(living))
    related = rows.select_related("task", "revision__task", "revision__approver")
    return related.order_by("due_at", "pk")


def next_due(now: datetime, *, but: Collection[int] = ()) -> TaskWindow | None:
    """The one to be released now; what has failed lately is left alone for a while."""
    paused = Attempt.objects.filter(~attempts.over(now), window=OuterRef("pk"))
    return due_windows(now).exclude(Exists(paused)).exclude(pk__in=but).first()


def in_flight() -> int:
    """How many windows are being released just now."""
    return Session.objects.filter(collects__isnull=False, state__in=Session.ALIVE).count()


def releases_to_render() -> QuerySet[Release]:
    """Releases without files, the oldest first; the numbers themselves are not read."""
    rows = Release.objects.filter(rendering=None).defer("noised")
    return rows.select_related("window__task", "window__revision").order_by("pk")


def whole_release(pk: int) -> Release:
    """With its numbers."""
    return _rows().get(pk=pk)


def release_by_name(task: str, window: str) -> Release | None:
    """With its numbers."""
    return _rows().filter(window__task__name=task, window__window=window).first()


def releases_for(viewer: Person | AnonymousUser) -> QuerySet[Release]:
    """What this viewer may see, the newest first; the numbers themselves are not read.

    People with a role see everything. Public releases are there for everyone, where the settings
    have public releases at all.
    """
    rows = _rows().defer("noised").order_by("-released_at", "-pk")
    if isinstance(viewer, Person) and viewer.has_role(*Role):
        return rows
    if settings.PUBLIC_RELEASES:
        return rows.filter(audience=Release.Audience.PUBLIC)
    return rows.none()


def is_for_everyone(release: Release) -> bool:
    return settings.PUBLIC_RELEASES and release.audience == Release.Audience.PUBLIC


def who_may_see(release: Release) -> QuerySet[Person]:
    """The people whose `releases_for` has it, and who may come in."""
    if is_for_everyone(release):
        return Person.objects.filter(is_active=True)
    return people_with_role(*Role)


def _rows() -> QuerySet[Release]:
    return Release.objects.select_related("window__task", "window__revision", "rendering")
