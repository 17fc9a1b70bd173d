"""Writing a task: its draft, and who has written in it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction

from aggregation.clock import Clock
from aggregation.errors import Problem
from aggregation.protocol.spec_text import MAX_BYTES
from portal.accounts.models import Person, Role
from portal.audit.services import Change, record
from portal.problems import Conflict
from portal.tasks.locking import locked_alive
from portal.tasks.models import Draft, Editor, Task
from portal.tasks.rights import require_role
from portal.tasks.selectors import editors_of

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?")
# Words that are addresses below /tasks.
_TAKEN = frozenset({"compare", "new"})
_NAME_LINE = re.compile(r"^name:.*$", re.MULTILINE)


@dataclass(frozen=True)
class Saved:
    version: int
    changed_at: datetime


@dataclass(frozen=True)
class Stale:
    """Somebody saved in between; this is what they have. Nothing was overwritten."""

    version: int
    text: str
    changed_by: Person
    changed_at: datetime


@transaction.atomic
def create_task(*, name: str, text: str, actor: Person, clock: Clock) -> Task:
    """A new task with its first draft, which may be incomplete."""
    require_role(actor, Role.ANALYST)
    _check_name(name)
    _check_text(text)
    now = clock.now()
    task = _new_task(name, actor, now)
    Draft.objects.create(task=task, text=text, changed_by=actor, changed_at=now)
    Editor.objects.create(task=task, person=actor, since=now)
    record(action="task.created", subject=task, actor=actor, clock=clock)
    return task


@transaction.atomic
def save_draft(
    *, task: Task, text: str, base_version: int, actor: Person, clock: Clock
) -> Saved | Stale:
    """Save what was written on top of a version, unless somebody saved another one meanwhile.

    Saving is not recorded each time, since it happens as one types; who writes for the first time
    is. The same text again changes nothing and makes nobody an editor.
    """
    require_role(actor, Role.ANALYST)
    _check_text(text)
    task = locked_alive(task)
    draft = Draft.objects.select_related("changed_by").get(task=task)
    if draft.version != base_version:
        return Stale(draft.version, draft.text, draft.changed_by, draft.changed_at)
    if draft.text == text:
        return Saved(draft.version, draft.changed_at)
    draft.text, draft.version = text, draft.version + 1
    draft.changed_by, draft.changed_at = actor, clock.now()
    draft.save()
    note_editor(task=task, person=actor, clock=clock)
    return Saved(draft.version, draft.changed_at)


@transaction.atomic
def duplicate_task(*, task: Task, name: str, actor: Person, clock: Clock) -> Task:
    """A new task that begins with this one's draft, under its own name.

    The copy holds the words of all who have written in the original, so they are its editors too.
    They are read after the text: nobody's words come along without them.
    """
    require_role(actor, Role.ANALYST)
    _check_name(name)
    text = Draft.objects.get(task=task).text
    renamed = _NAME_LINE.sub(lambda _: f"name: {name}", text, count=1)
    copy = create_task(name=name, text=renamed, actor=actor, clock=clock)
    note_writers(task=copy, people=editors_of(task), actor=actor, clock=clock)
    return copy


def note_editor(*, task: Task, person: Person, clock: Clock) -> None:
    """From now on this person decides on no revision of the task."""
    _, new = Editor.objects.get_or_create(task=task, person=person, defaults={"since": clock.now()})
    if new:
        change = Change("editor", None, person.username)
        record(
            action="task.editor_added", subject=task, actor=person, clock=clock, changes=[change]
        )


def note_writers(*, task: Task, people: Iterable[Person], actor: Person, clock: Clock) -> None:
    """What these people wrote came into the task's draft by the actor's hand: from now on they
    decide on no revision of it either."""
    known = set(task.editors.values_list("person_id", flat=True))
    new = [person for person in people if person.pk not in known]
    if not new:
        return
    now = clock.now()
    Editor.objects.bulk_create(Editor(task=task, person=person, since=now) for person in new)
    changes = [Change("editor", None, person.username) for person in new]
    record(action="task.writers_noted", subject=task, actor=actor, clock=clock, changes=changes)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or name in _TAKEN:
        raise Problem(
            f"{name[:80]!r} is no name for a task.",
            hint="Use up to 64 of a–z, 0–9 and hyphens, such as weekly-trips.",
        )
    if Task.objects.filter(name=name).exists():
        raise _taken(name)


def _new_task(name: str, actor: Person, now: datetime) -> Task:
    """Somebody may have taken the name since it was looked for, such as by clicking twice."""
    try:
        with transaction.atomic():
            return Task.objects.create(name=name, created_by=actor, created_at=now)
    except IntegrityError:
        raise _taken(name) from None


def _taken(name: str) -> Conflict:
    return Conflict(f"There is a task {name} already.", hint="Choose another name.")


def _check_text(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise Problem(
            f"The draft has {size:,} bytes; at most {MAX_BYTES:,} are kept.", hint="Shorten it."
        )
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise Problem(
            "The draft holds a character that cannot be kept.", hint="Remove control characters."
        )
