"""Finding the release that an address names, for those who may see it."""

from datetime import UTC, datetime

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.http import Http404

from aggregation.errors import Problem
from aggregation.protocol.windows import Unit, Window
from portal.accounts.models import Person, Role
from portal.collection.opening import config_of_revision
from portal.releases.models import Release
from portal.releases.selectors import releases_for, whole_release
from portal.tasks.models import Revision, TaskWindow

# Stands for the newest window in an address of the API.
LATEST = "latest"
# How a label is read, once its first day is added to it.
_LABELS = {Unit.WEEK: "%G-W%V-%u", Unit.MONTH: "%Y-%m-%d"}
_OVER = (TaskWindow.State.RELEASED, TaskWindow.State.SKIPPED)


class NotReleasedYet(Http404):
    """The window is there, its release is not. Only for those who may know of it."""

    def __init__(self, window: TaskWindow) -> None:
        due = f"{window.due_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        super().__init__(f"{window} is not released yet. It is due from {due} on.")
        self.window = window


def find_release(viewer: Person | AnonymousUser, task: str, window: str) -> Release:
    """Without its numbers. One that is not for this viewer is as if it were not there."""
    rows = releases_for(viewer).filter(window__task__name=task)
    if window == LATEST:
        rows = rows.filter(rendering__isnull=False).order_by("-window__start")
    else:
        rows = rows.filter(_named(window, "window__"))
    found = rows.first()
    if found is None:
        if waiting := _waiting(viewer, task, window):
            raise NotReleasedYet(waiting)
        raise Http404(f"There is no release of {task} for the window {window}.")
    return found


def find_releases(viewer: Person | AnonymousUser, task: str, *, newest: int) -> list[Release]:
    """The newest windows of a task that have files, the oldest of them first."""
    rows = releases_for(viewer).filter(window__task__name=task, rendering__isnull=False)
    found = list(rows.order_by("-window__start")[:newest])
    if not found:
        raise Http404(f"There is no release of {task}.")
    return found[::-1]


def find_whole_release(viewer: Person | AnonymousUser, task: str, window: str) -> Release:
    return whole_release(find_release(viewer, task, window).pk)


def known_windows(
    viewer: Person | AnonymousUser, rows: QuerySet[TaskWindow]
) -> QuerySet[TaskWindow]:
    """Of windows that are not released yet those that this viewer may know of: they will see its
    release, and see others of its task already. People with a role know of all."""
    if isinstance(viewer, Person) and viewer.has_role(*Role):
        return rows
    if not settings.PUBLIC_RELEASES:
        return rows.none()
    seen = rows.filter(task__in=releases_for(viewer).values("window__task"))
    asked = Revision.objects.filter(pk__in=seen.values("revision"))
    return seen.filter(revision__in=[one.pk for one in asked if _will_be_public(one)])


def window_called(label: str) -> Window | None:
    """The week or month that people call so: `2026-W46`, `2026-11`."""
    for unit, form in _LABELS.items():
        try:
            found = Window(datetime.strptime(f"{label}-1", form).replace(tzinfo=UTC), unit)
        except (ValueError, Problem):
            continue
        if found.label == label:
            return found
    return None


def _will_be_public(revision: Revision) -> bool:
    return config_of_revision(revision).audience == Release.Audience.PUBLIC


def _named(window: str, at: str = "") -> Q:
    """By its id, or by its label."""
    called = window_called(window)
    if called is None:
        return Q((f"{at}window", window))
    return Q((f"{at}window", called.id), (f"{at}unit", called.unit.value))


def _waiting(viewer: Person | AnonymousUser, task: str, window: str) -> TaskWindow | None:
    """The window that is not released yet, for those who may know of it."""
    rows = TaskWindow.objects.filter(_named(window), task__name=task).exclude(state__in=_OVER)
    return known_windows(viewer, rows.select_related("task")).first()
