"""Which session may hold something of which window, and what passed from one to another."""

from django.db import models
from django.db.models import F, Q

from portal.collection.models.session import Session
from portal.tasks.models import TaskWindow


class Hold(models.Model):
    """This session may hold devices' parts for this window.

    Written before the session takes the first part, so that whoever closes the window knows for
    whom to wait. Nothing is stored for a window by a session without a hold on it.
    """

    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="holds")
    window = models.ForeignKey(TaskWindow, on_delete=models.PROTECT, related_name="holds")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "window"], name="a_hold_is_one")]

    def __str__(self) -> str:
        return f"hold {self.pk}"


class HandOver(models.Model):
    """What a session held of a window went on to its successor, in memory.

    Until the successor is over, the updates in it are neither counted nor lost: a device that sent
    one of them waits. Any other device of the session was not taken, and may send again at once.
    If the successor was a collector that died, the next one may count them after all; nobody is
    asked for a window that has had a collector, so they are not sent again.
    """

    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="handed_over")
    window = models.ForeignKey(TaskWindow, on_delete=models.PROTECT, related_name="handed_over")
    successor = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="taken_over")
    # Updates in it that were sent to this session: 8 random bytes each, sorted and joined. Nothing
    # once the window is done; then nobody may send it again anyway.
    ids = models.BinaryField(null=True)
    # The successor has it in its own memory.
    received = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "window"], name="a_session_hands_a_window_over_once"
            ),
            models.CheckConstraint(
                condition=~Q(session=F("successor")), name="a_successor_is_another_session"
            ),
        ]

    def __str__(self) -> str:
        return f"hand-over {self.pk}"
