"""Finding the release that an address names, for those who may see it."""

from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from portal.accounts.models import Person
from portal.releases.models import Release
from portal.releases.selectors import releases_for, whole_release


def find_release(viewer: Person | AnonymousUser, task: str, window: str) -> Release:
    """Without its numbers. One that is not for this viewer is as if it were not there."""
    rows = releases_for(viewer).filter(window__task__name=task, window__window=window)
    found = rows.first()
    if found is None:
        raise Http404(f"There is no release of {task} for the window {window}.")
    return found


def find_whole_release(viewer: Person | AnonymousUser, task: str, window: str) -> Release:
    return whole_release(find_release(viewer, task, window).pk)
