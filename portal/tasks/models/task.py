"""A task, its draft, and who has written in it."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from portal.accounts.models import Person
from portal.states import Stateful, States


class Task(Stateful):
    """A continuous query. Streams, window unit and population never change within a task."""

    class State(States):
        DRAFT = "draft", "neutral", "Draft"
        ACTIVE = "active", "good", "Active"
        PAUSED = "paused", "warning", "Paused"
        ENDED = "ended", "neutral", "Ended"

    MOVES: ClassVar = {
        State.DRAFT: frozenset({State.ACTIVE, State.ENDED}),
        State.ACTIVE: frozenset({State.PAUSED, State.ENDED}),
        # Only through a revision that a second person approves.
        State.PAUSED: frozenset({State.ACTIVE, State.ENDED}),
        State.ENDED: frozenset(),
    }

    name = models.CharField(
        max_length=64,
        unique=True,
        error_messages={"unique": "There is a task with this name already. Choose another one."},
    )
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="tasks_created")
    created_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["draft", "active", "paused", "ended"]),
                name="a_task_is_draft_active_paused_or_ended",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Draft(models.Model):
    """What is being written: any text, complete or not. Each save has the next version."""

    task = models.OneToOneField(Task, on_delete=models.PROTECT, related_name="draft")
    text = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)
    changed_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"draft of {self.task}, version {self.version}"


class Editor(models.Model):
    """Someone who has written in a task's draft: for good, they do not approve this task.

    What a person wrote can stay in the text through any number of revisions, so nobody stops
    being an editor. It can come from another task as well, of which this one is a copy. Rows are
    only ever added: kept by the database.
    """

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="editors")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    since = models.DateTimeField()

    class Meta:
        ordering = ["since", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["task", "person"], name="an_editor_of_a_task_is_one")
        ]

    def __str__(self) -> str:
        return f"{self.person.username} of {self.task}"
