"""Who is told that a window was released, or why it was not."""

from collections.abc import Iterable

from django.urls import reverse

from aggregation.clock import Clock
from portal.accounts.models import Person, Role
from portal.accounts.selectors import people_with_role
from portal.audit.models import Entry
from portal.notifications.services import notify
from portal.releases.following import followers_of
from portal.releases.models import Release
from portal.releases.selectors import who_may_see
from portal.tasks.models import Task, TaskWindow
from portal.tasks.rights import readers_among

HELD_BACK = "taskwindow.held_back"


def released(release: Release, *, clock: Clock) -> None:
    window = release.window
    own = who_may_see(release).filter(pk__in=_people_of(window.task))
    _tell(
        [*own, *followers_of(release)],
        kind="release.made",
        title=f"{window.task.name} {window.as_window().label} is released",
        body="Its numbers, intervals and guarantee card are there to read.",
        link=reverse("release", args=[window.task.name, window.window]),
        clock=clock,
    )


def held_back(window: TaskWindow, *, clock: Clock) -> None:
    _tell(
        [*readers_among(_people_of(window.task)), *people_with_role(Role.OPERATOR)],
        kind=HELD_BACK,
        title=f"{window.task.name} {window.as_window().label} is held back",
        body="The approval of its revision does not verify, so it is not released. "
        "Restore the approval key that signed it; its partials last for a few days only.",
        link=f"{reverse('task', args=[window.task.name])}#windows",
        clock=clock,
    )


def is_held_back(window: TaskWindow) -> bool:
    """Whether people have heard already that it is."""
    told = Entry.objects.filter(action=HELD_BACK, object_type="taskwindow")
    return told.filter(object_id=str(window.pk)).exists()


def _people_of(task: Task) -> set[int]:
    """The ids of authors and editors, whatever they may see by now."""
    ids = {task.created_by_id}
    ids |= set(task.editors.values_list("person_id", flat=True))
    ids |= set(task.revisions.values_list("author_id", flat=True))
    return ids


def _tell(
    people: Iterable[Person], *, kind: str, title: str, body: str, link: str, clock: Clock
) -> None:
    everyone = {person.pk: person for person in people}
    notify(recipients=everyone.values(), kind=kind, title=title, body=body, link=link, clock=clock)
