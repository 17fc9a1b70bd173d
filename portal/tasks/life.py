"""A task's life as its page tells it: the audit log's entries, in sentences."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from portal.audit.models import Entry
from portal.tasks.models import Task


@dataclass(frozen=True)
class Step:
    at: datetime
    who: str
    words: str
    colour: str


_WORDS = {
    "task.created": ("made the task", "neutral"),
    "task.editor_added": ("wrote in the draft for the first time", "neutral"),
    "task.writers_noted": ("put into the draft what others have written", "neutral"),
    "task.calibrated": ("put what phones told into the draft", "neutral"),
    "task.active": ("activated it", "good"),
    "task.paused": ("paused it", "warning"),
    "task.ended": ("ended it", "neutral"),
    "revision.submitted": ("submitted {} for review", "info"),
    "revision.resume_asked": ("asked to resume it, as {}", "info"),
    "revision.replaced": ("replaced {} in review", "neutral"),
    "revision.withdrawn": ("took {} back from review", "neutral"),
    "revision.changes_requested": ("asked for changes to {}", "warning"),
    "revision.rejected": ("rejected {}", "bad"),
    "revision.approved": ("approved {}", "good"),
}


def life_of(task: Task) -> list[Step]:
    """Oldest first, in civil time."""
    numbers = {str(pk): number for pk, number in task.revisions.values_list("pk", "number")}
    about = Q(object_type="task", object_id=str(task.pk))
    about |= Q(object_type="revision", object_id__in=list(numbers))
    entries = Entry.objects.filter(about, action__in=_WORDS).order_by("seq")
    return [_step(entry, numbers) for entry in entries]


def _step(entry: Entry, numbers: dict[str, int]) -> Step:
    words, colour = _WORDS[entry.action]
    number = numbers.get(entry.object_id, 0)
    return Step(entry.civil_at, entry.actor, words.format(f"revision {number}"), colour)
