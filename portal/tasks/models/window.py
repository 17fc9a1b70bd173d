"""The windows that a task runs."""

from datetime import UTC
from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from aggregation.protocol.windows import Unit, Window
from portal.states import Stateful, States
from portal.tasks.models.revision import Revision
from portal.tasks.models.task import Task


class TaskWindow(Stateful):
    """One window of a task, run under one revision, from the day it is charged to its release.

    It exists only once it is charged in the ledger, and only for an approved revision: kept by
    the database.
    """

    class State(States):
        UPCOMING = "upcoming", "neutral", "Upcoming"
        COLLECTING = "collecting", "info", "Collecting"
        GRACE = "grace", "info", "Waiting for late devices"
        RELEASING = "releasing", "info", "Releasing"
        RELEASED = "released", "good", "Released"
        SKIPPED = "skipped", "warning", "Skipped"

    MOVES: ClassVar = {
        State.UPCOMING: frozenset({State.COLLECTING, State.SKIPPED}),
        State.COLLECTING: frozenset({State.GRACE, State.SKIPPED}),
        State.GRACE: frozenset({State.RELEASING, State.SKIPPED}),
        State.RELEASING: frozenset({State.RELEASED, State.SKIPPED}),
        State.RELEASED: frozenset(),
        State.SKIPPED: frozenset(),
    }

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="windows")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="windows")
    # The window's id, and the moments it stands for.
    window = models.CharField(max_length=16)
    unit = models.CharField(max_length=5)
    start = models.DateTimeField()
    end = models.DateTimeField()
    # When the grace for late devices is over.
    due_at = models.DateTimeField()
    state = models.CharField(max_length=12, choices=State, default=State.UPCOMING)
    # Why it was skipped, in a sentence.
    reason = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["task", "start"]
        constraints = [
            models.UniqueConstraint(fields=["task", "start"], name="a_task_has_each_window_once"),
            models.CheckConstraint(
                condition=Q(end__gt=F("start"), due_at__gte=F("end")),
                name="a_window_ends_after_it_begins",
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "upcoming", "collecting", "grace", "releasing", "released", "skipped",
                    ]
                ),
                name="a_window_is_in_one_of_its_states",
            ),
        ]  # fmt: skip
        indexes = [models.Index(fields=["state", "start"], name="windows_by_state")]

    def __str__(self) -> str:
        return f"{self.task} {self.as_window().label}"

    def as_window(self) -> Window:
        return Window(self.start.astimezone(UTC), Unit(self.unit))
