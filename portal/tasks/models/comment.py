"""What people say about tasks."""

from django.db import models
from django.db.models import Q

from portal.accounts.models import Person
from portal.tasks.models.revision import Revision
from portal.tasks.models.task import Task


class Comment(models.Model):
    """A remark on a task, on a revision or on a line of its SQL; or an answer in such a thread."""

    class Decision(models.TextChoices):
        NONE = "", "Comment"
        APPROVED = "approved", "Approved"
        CHANGES_REQUESTED = "changes_requested", "Asked for changes"
        REJECTED = "rejected", "Rejected"

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="comments")
    revision = models.ForeignKey(
        Revision, on_delete=models.PROTECT, null=True, related_name="comments"
    )
    # The remark that this one answers; an answer has no answers.
    thread = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="answers")
    author = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(max_length=4000)
    created_at = models.DateTimeField()
    # sql, client_sql or server_sql, and a line of it from 1; empty for the whole.
    part = models.CharField(max_length=10, blank=True)
    line = models.PositiveIntegerField(null=True)
    decision = models.CharField(max_length=20, choices=Decision, blank=True)
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(line=None, part="")
                | Q(
                    line__gte=1,
                    revision__isnull=False,
                    part__in=["sql", "client_sql", "server_sql"],
                ),
                name="a_comment_on_a_line_names_its_revision_and_part",
            ),
            models.CheckConstraint(
                condition=Q(resolved_at=None, resolved_by=None)
                | Q(resolved_at__isnull=False, resolved_by__isnull=False, thread=None),
                name="a_thread_is_resolved_by_someone",
            ),
        ]

    def __str__(self) -> str:
        return f"comment {self.pk} on {self.task}"
