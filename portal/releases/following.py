"""Who wants to be told of a task's releases, beside those whose task it is."""

from django.db.models import QuerySet
from django.http import Http404

from portal.accounts.models import Person
from portal.releases.models import Follower, Release
from portal.releases.selectors import releases_for, who_may_see
from portal.tasks.models import Task


def set_following(*, person: Person, task: str, on: bool) -> bool:
    """Follow a task, or no longer; a second time changes nothing. Says whether it is followed."""
    found = _task(person, task)
    if on:
        Follower.objects.get_or_create(task=found, person=person)
    else:
        Follower.objects.filter(task=found, person=person).delete()
    return on


def is_following(*, person: Person, task: str) -> bool:
    return Follower.objects.filter(task=_task(person, task), person=person).exists()


def followers_of(release: Release) -> QuerySet[Person]:
    """Those who may see this release: someone may have lost a role since."""
    return who_may_see(release).filter(followed__task=release.window.task_id)


def _task(person: Person, name: str) -> Task:
    """A task of which this person may see a release; any other is as if it were not there."""
    release = releases_for(person).filter(window__task__name=name).first()
    if release is None:
        raise Http404(f"There is no release of {name}.")
    return release.window.task
