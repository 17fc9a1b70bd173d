"""What people are told, and how it reaches them outside the portal.

All moments are machine time; an event also keeps the civil time at which it happened.
"""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from portal.accounts.models import Person
from portal.states import Stateful, States


class Event(models.Model):
    """Something people are told of, in the words they read. Written once, never changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # Named as in the audit log: object.verb.
    kind = models.CharField(max_length=60)
    title = models.CharField(max_length=200)
    body = models.TextField(max_length=2000, blank=True)
    # The exact place it is about: a path on this site.
    link = models.CharField(max_length=500)
    created_at = models.DateTimeField()
    civil_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(link__startswith="/") & ~Q(link__startswith="//"),
                name="an_event_links_to_a_path_on_this_site",
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def icon(self) -> str:
        """A picture for what the kind is about."""
        return _ICONS.get(self.kind.partition(".")[0], "bell")


_ICONS = {
    "audit": "audit",
    "comment": "edit",
    "password": "lock",
    "release": "chart",
    "revision": "check-circle",
    "roles": "people",
    "task": "layers",
    "taskwindow": "clock",
    "token": "key",
}


class Notification(models.Model):
    """An event as one person sees it."""

    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="notifications")
    recipient = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="notifications")
    read_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["event", "recipient"], name="a_person_is_told_of_an_event_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["recipient"], condition=Q(read_at=None), name="unread_by_recipient"
            )
        ]

    def __str__(self) -> str:
        return f"{self.event} for {self.recipient.username}"


class Delivery(Stateful):
    """One e-mail to one person, or one call of the webhook, for an event.

    Delivered at least once: a worker that dies between sending and saying so leaves the row due,
    and it is sent again under the same identity (Message-ID or event id).
    """

    class State(States):
        QUEUED = "queued", "info", "Queued"
        SENT = "sent", "good", "Sent"
        FAILED = "failed", "bad", "Failed"

    class Channel(models.TextChoices):
        EMAIL = "email", "E-mail"
        WEBHOOK = "webhook", "Webhook"

    MOVES: ClassVar = {
        State.QUEUED: frozenset({State.SENT, State.FAILED}),
        State.SENT: frozenset(),
        State.FAILED: frozenset({State.QUEUED}),
    }

    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.CharField(max_length=10, choices=Channel)
    # Whom an e-mail is for; nobody for the webhook.
    notification = models.OneToOneField(Notification, on_delete=models.CASCADE, null=True)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    # When to send next. While a worker is sending, the moment its lease ends.
    due_at = models.DateTimeField()
    # The claim of the worker that is sending now: fences off one that took too long.
    claim = models.UUIDField(null=True)
    settled_at = models.DateTimeField(null=True)
    # Why the last attempt did not succeed: a short sentence without addresses or contents.
    error = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(channel="email", notification__isnull=False)
                | Q(channel="webhook", notification=None),
                name="an_email_is_for_a_person_and_a_webhook_call_for_nobody",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "sent", "failed"]),
                name="a_delivery_is_queued_sent_or_failed",
            ),
            models.UniqueConstraint(
                fields=["event"],
                condition=Q(channel="webhook"),
                name="an_event_calls_the_webhook_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["channel", "due_at"], condition=Q(state="queued"), name="queued_by_due"
            ),
            models.Index(fields=["state", "-id"], name="deliveries_by_state"),
        ]

    def __str__(self) -> str:
        if self.notification is None:
            return f"webhook call about {self.event.kind}"
        return f"e-mail to {self.notification.recipient.username} about {self.event.kind}"

    @property
    def colour(self) -> str:
        return self.State(self.state).colour


class Email(models.Model):
    """An e-mail of the demo, which is shown on a page instead of being sent."""

    to = models.CharField(max_length=500)
    subject = models.CharField(max_length=300)
    body = models.TextField()
    sent_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.subject


class Watch(models.Model):
    """How far the audit log has been read for what people are told of, and the last break told."""

    seq = models.BigIntegerField(default=0)
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        verbose_name_plural = "watches"
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="the_audit_log_has_one_watch")
        ]

    def __str__(self) -> str:
        return f"read to entry {self.seq}"
