"""Sessions: which there are, who runs them, and how they ended."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from portal.states import Stateful, States
from portal.tasks.models import Revision, TaskWindow


class Session(Stateful):
    """One in-memory aggregation on one worker, for one revision. It flushes at most once.

    What it holds is in its worker's memory alone; the row says that it exists, and the move to
    `flushed` is the fence: whoever loses it stores nothing. A collector is the session of a
    release: it takes over what is still small when its one window closes.
    """

    class State(States):
        OPENING = "opening", "neutral", "Opening"
        OPEN = "open", "good", "Open"
        COMPLETING = "completing", "info", "Completing"
        FLUSHED = "flushed", "neutral", "Flushed"
        DEAD = "dead", "bad", "Dead"

    MOVES: ClassVar = {
        State.OPENING: frozenset({State.OPEN, State.DEAD}),
        State.OPEN: frozenset({State.COMPLETING, State.DEAD}),
        State.COMPLETING: frozenset({State.FLUSHED, State.DEAD}),
        State.FLUSHED: frozenset(),
        State.DEAD: frozenset(),
    }
    ALIVE: ClassVar = (State.OPENING, State.OPEN, State.COMPLETING)

    class Reason(models.TextChoices):
        """Why it ends. An open session with a reason waits for its successor."""

        NONE = "", "Goes on"
        FULL = "full", "Enough devices"
        OLD = "old", "Long enough"
        WINDOW_CLOSED = "window_closed", "A window closes"
        QUIET = "quiet", "Fewer will do"
        DRAIN = "drain", "Its worker stops"
        IDLE = "idle", "Nothing is left to collect"
        LOST = "lost", "No sign of life"
        UNCLAIMED = "unclaimed", "No worker took it"
        NO_SUCCESSOR = "no_successor", "Nobody to hand over to"
        UNTRUSTED = "untrusted", "The approval does not verify"
        FAULT = "fault", "A fault"

    # 32 hex digits; named in seals, so it is never used twice.
    id = models.CharField(max_length=32, primary_key=True)
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="sessions")
    # The one window of a collector; empty for the sessions that devices send to.
    collects = models.ForeignKey(
        TaskWindow, on_delete=models.PROTECT, null=True, related_name="collectors"
    )
    worker = models.CharField(max_length=200, blank=True)
    # Hex: what updates are sealed to, and the worker's word that it is this session's.
    public_key = models.CharField(max_length=64, blank=True)
    signature = models.CharField(max_length=128, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.OPENING)
    reason = models.CharField(max_length=13, choices=Reason, blank=True)
    # Machine time.
    requested_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # Coarse, in words, by what became of updates; written at the end.
    counts = models.JSONField(default=dict)

    class Meta:
        ordering = ["requested_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["opening", "open", "completing", "flushed", "dead"]),
                name="a_session_is_in_one_of_its_states",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["opening", "dead"])
                | ~Q(public_key="") & Q(opened_at__isnull=False),
                name="a_session_that_opened_has_a_key",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["flushed", "dead"], ended_at__isnull=False)
                | ~Q(state__in=["flushed", "dead"]) & Q(ended_at=None),
                name="a_session_that_is_over_ended_at_some_time",
            ),
            models.UniqueConstraint(
                fields=["collects"],
                condition=Q(state__in=["opening", "open", "completing"]),
                name="a_window_has_one_living_collector",
            ),
        ]
        indexes = [models.Index(fields=["state", "revision"], name="sessions_by_state")]

    def __str__(self) -> str:
        return f"{'collector' if self.collects_id else 'session'} {self.pk[:8]}"
