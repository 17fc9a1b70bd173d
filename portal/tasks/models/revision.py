"""Revisions: what was submitted, and what was decided on it."""

import json
from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from portal.accounts.models import Person
from portal.states import Stateful, States
from portal.tasks.models.task import Task


class Revision(Stateful):
    """An immutable version of a task's spec, as it was submitted, and what was decided on it.

    The content never changes; the approval is written once, with the move to approved, by someone
    who is neither the author nor an editor. The database keeps all of this for every writer. The
    signature's key is not in the database: whoever could write around these rules could still
    not make an approval that a device, or the next activation, believes.
    """

    class State(States):
        IN_REVIEW = "in_review", "info", "In review"
        CHANGES_REQUESTED = "changes_requested", "warning", "Changes requested"
        REJECTED = "rejected", "bad", "Rejected"
        WITHDRAWN = "withdrawn", "neutral", "Withdrawn"
        APPROVED = "approved", "good", "Approved"

    MOVES: ClassVar = {
        State.IN_REVIEW: frozenset(
            {State.CHANGES_REQUESTED, State.REJECTED, State.WITHDRAWN, State.APPROVED}
        ),
        State.CHANGES_REQUESTED: frozenset(),
        State.REJECTED: frozenset(),
        State.WITHDRAWN: frozenset(),
        State.APPROVED: frozenset(),
    }

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    author = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="revisions")
    submitted_at = models.DateTimeField()
    draft_version = models.PositiveIntegerField()
    # Asks to run a paused task again, with the content that was approved before.
    resumes = models.BooleanField(default=False)
    spec_text = models.TextField()
    # Canonical JSON, byte for byte what the hashes beside them are of.
    spec_json = models.TextField()
    spec_sha256 = models.CharField(max_length=64)
    client_task_json = models.TextField()
    client_task_sha256 = models.CharField(max_length=64)
    server_config_json = models.TextField()
    server_config_sha256 = models.CharField(max_length=64)
    # Over the three hashes: what a reviewer has seen, in one word.
    content_sha256 = models.CharField(max_length=64)
    # ε per window in hundredths, for the ledger.
    epsilon = models.PositiveIntegerField()
    window_unit = models.CharField(max_length=5)
    streams = models.JSONField(default=list)
    # What the compiler wanted a reviewer to see.
    warnings = models.JSONField(default=list)
    state = models.CharField(max_length=20, choices=State, default=State.IN_REVIEW)
    decided_at = models.DateTimeField(null=True)

    approver = models.ForeignKey(
        Person, on_delete=models.PROTECT, null=True, related_name="approvals"
    )
    approved_at = models.DateTimeField(null=True)
    # Runs windows from this start on …
    first_window = models.DateTimeField(null=True)
    key_id = models.CharField(max_length=16, blank=True)
    signature = models.CharField(max_length=128, blank=True)
    # … and before this one, once it is replaced, paused or ended. Only ever moved earlier.
    until_window = models.DateTimeField(null=True)

    class Meta:
        ordering = ["task", "-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "number"], name="revisions_of_a_task_are_numbered"
            ),
            models.UniqueConstraint(
                fields=["task"],
                condition=Q(state="in_review"),
                name="one_revision_of_a_task_is_in_review",
            ),
            models.UniqueConstraint(
                fields=["task"],
                condition=Q(state="approved", until_window=None),
                name="one_revision_of_a_task_runs_on",
            ),
            models.UniqueConstraint(
                fields=["signature"],
                condition=~Q(signature=""),
                name="an_approval_is_of_one_revision",
            ),
            models.CheckConstraint(
                condition=Q(approver=None) | ~Q(approver=F("author")),
                name="the_approver_is_not_the_author",
            ),
            models.CheckConstraint(
                condition=Q(
                    state="approved",
                    approver__isnull=False,
                    approved_at__isnull=False,
                    first_window__isnull=False,
                    first_window__gt=F("approved_at"),
                )
                & ~Q(signature="")
                & ~Q(key_id="")
                | ~Q(state="approved")
                & Q(
                    approver=None,
                    approved_at=None,
                    first_window=None,
                    until_window=None,
                    signature="",
                    key_id="",
                ),
                name="a_revision_is_approved_wholly_or_not_at_all",
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "in_review", "changes_requested", "rejected", "withdrawn", "approved",
                    ]
                ),
                name="a_revision_is_in_one_of_its_states",
            ),
            models.CheckConstraint(
                condition=Q(epsilon__gt=0, epsilon__lte=800), name="a_revision_costs_up_to_8"
            ),
        ]  # fmt: skip
        indexes = [models.Index(fields=["state", "submitted_at"], name="revisions_by_state")]

    def __str__(self) -> str:
        return f"{self.task} revision {self.number}"

    def sql_parts(self) -> dict[str, str]:
        """The queries as they were written, by the name of their field."""
        spec = json.loads(self.spec_json)
        parts = ("sql", "client_sql", "server_sql")
        return {part: spec[part] for part in parts if spec.get(part)}
