"""What sessions leave behind: encrypted partial sums, and receipts of the updates in them."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from portal.collection.models.session import Session
from portal.states import Stateful, States
from portal.tasks.models import TaskWindow


class Partial(Stateful):
    """An encrypted partial aggregate of one window. As sensitive as the updates in it.

    Its key is a file outside the database. It is erased by unlinking that file; that the body is
    emptied as well comes on top, for bytes deleted from a database stay in its pages and logs.
    """

    class State(States):
        STORED = "stored", "good", "Stored"
        MERGED = "merged", "info", "Merged"
        ERASED = "erased", "neutral", "Erased"
        EXPIRED = "expired", "warning", "Expired"

    MOVES: ClassVar = {
        State.STORED: frozenset({State.MERGED, State.EXPIRED}),
        State.MERGED: frozenset({State.ERASED}),
        State.ERASED: frozenset(),
        State.EXPIRED: frozenset(),
    }

    # 32 hex digits; part of what the body authenticates.
    id = models.CharField(max_length=32, primary_key=True)
    window = models.ForeignKey(TaskWindow, on_delete=models.PROTECT, related_name="partials")
    # 1 as a session flushed it; higher for what was merged from the level below.
    level = models.PositiveSmallIntegerField()
    session = models.ForeignKey(
        Session, on_delete=models.PROTECT, null=True, related_name="partials"
    )
    # With task, window and level it names the key.
    key_day = models.DateField()
    body = models.BinaryField()
    # Civil time.
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    state = models.CharField(max_length=8, choices=State, default=State.STORED)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(level=1, session__isnull=False) | Q(level__gt=1, session=None),
                name="a_partial_of_level_1_is_a_session_s",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["stored", "merged", "erased", "expired"]),
                name="a_partial_is_in_one_of_its_states",
            ),
            models.UniqueConstraint(
                fields=["session", "window"], name="a_session_leaves_one_partial_per_window"
            ),
        ]
        indexes = [models.Index(fields=["state", "expires_at"], name="partials_by_state")]

    def __str__(self) -> str:
        return f"partial {self.pk[:8]}"


class Receipts(models.Model):
    """The ids of the updates sent to one session that are in a window's stored partials.

    Deleted once the window is released or skipped: from then on nobody may send it again anyway.
    """

    # The session the updates were sent to …
    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="receipts")
    window = models.ForeignKey(TaskWindow, on_delete=models.PROTECT, related_name="receipts")
    # … and the one whose flush has counted them: the same, or one that took over.
    flushed_by = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="+")
    # 8 random bytes each, sorted and joined.
    ids = models.BinaryField()

    class Meta:
        verbose_name_plural = "receipts"
        constraints = [
            models.UniqueConstraint(
                fields=["session", "window"], name="updates_of_a_session_are_receipted_once"
            )
        ]

    def __str__(self) -> str:
        return f"receipts {self.pk}"
