"""Finding the release that an address names, for those who may see it."""

from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from portal.accounts.models import Person
from portal.releases.models import Release
from portal.releases.selectors import releases_for, whole_release

# Stands for the newest window in an address of the API.
LATEST = "latest"


def find_release(viewer: Person | AnonymousUser, task: str, window: str) -> Release:
    """Without its numbers. One that is not for this viewer is as if it were not there."""
    rows = releases_for(viewer).filter(window__task__name=task)
    if window == LATEST:
        rows = rows.filter(rendering__isnull=False).order_by("-window__start")
    else:
        rows = rows.filter(window__window=window)
    found = rows.first()
    if found is None:
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
