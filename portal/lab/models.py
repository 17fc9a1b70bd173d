"""Studies: what was asked of the lab, how far it is, and what came of it."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from portal.accounts.models import Person
from portal.states import Stateful, States


class Study(Stateful):
    """One question to the lab, with its parameters and its result. Studies are kept for good: what
    was decided on their ground can be looked up, and run again with the same seed.

    Kept by the database: what was asked never changes, a study that is over never does, and none
    is removed.
    """

    class State(States):
        WAITING = "waiting", "neutral", "Waiting"
        RUNNING = "running", "info", "Running"
        DONE = "done", "good", "Done"
        FAILED = "failed", "bad", "Failed"
        CANCELLED = "cancelled", "neutral", "Cancelled"

    MOVES: ClassVar = {
        State.WAITING: frozenset({State.RUNNING, State.CANCELLED}),
        # Back to waiting where its worker was told to stop.
        State.RUNNING: frozenset({State.WAITING, State.DONE, State.FAILED, State.CANCELLED}),
        State.DONE: frozenset(),
        State.FAILED: frozenset(),
        State.CANCELLED: frozenset(),
    }
    UNDER_WAY: ClassVar = (State.WAITING, State.RUNNING)

    class Kind(models.TextChoices):
        COMPARISON = "comparison", "Comparison of mechanisms"
        CALIBRATION = "calibration", "Calibration of a task"
        REACH = "reach", "Reach"

    kind = models.CharField(max_length=11, choices=Kind)
    # What was asked, checked and with every default written out.
    parameters = models.JSONField()
    # Made elsewhere, where the data is, and loaded: only its result is here.
    is_loaded = models.BooleanField(default=False)
    asked_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="studies")
    # Machine time, as all moments of a study.
    asked_at = models.DateTimeField(db_index=True)
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # A share from 0 to 1, and the last sign of life of whoever runs it.
    progress = models.FloatField(default=0)
    alive_at = models.DateTimeField(null=True)
    result = models.JSONField(null=True)
    # Why it failed, in a sentence.
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-asked_at", "-pk"]
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed", "cancelled"]),
                name="a_study_is_in_one_of_its_states",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["comparison", "calibration", "reach"]),
                name="a_study_is_of_one_of_the_kinds",
            ),
            models.CheckConstraint(
                condition=Q(state="done", result__isnull=False)
                | ~Q(state="done") & Q(result__isnull=True),
                name="a_study_has_a_result_once_it_is_done",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error=""),
                name="a_study_that_failed_says_why",
            ),
            # A machine has other things to do: the rest waits its turn.
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="running"), name="one_study_runs_at_a_time"
            ),
        ]
        indexes = [models.Index(fields=["state", "asked_at"], name="studies_by_state")]

    def __str__(self) -> str:
        return f"study {self.pk}"

    @property
    def is_under_way(self) -> bool:
        return self.state in self.UNDER_WAY

    @property
    def percent(self) -> int:
        return round(100 * self.progress)

    @property
    def name(self) -> str:
        return f"{self.get_kind_display()} {self.pk}"
