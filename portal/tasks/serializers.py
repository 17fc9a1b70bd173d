"""How tasks look to programs."""

from typing import Any

from rest_framework import serializers

from portal.ledger.api import Epsilon
from portal.tasks.models import Comment, Draft, Revision, Task, TaskWindow


class TaskSerializer(serializers.ModelSerializer[Task]):
    """A task in a list."""

    created_by = serializers.CharField(source="created_by.username")
    newest_revision = serializers.IntegerField(source="newest_number", allow_null=True)
    newest_state = serializers.CharField(
        allow_null=True, help_text="Of its newest revision, such as in_review."
    )

    class Meta:
        model = Task
        fields = [
            "name", "state", "created_by", "created_at", "newest_revision", "newest_state",
        ]  # fmt: skip


class DraftSerializer(serializers.ModelSerializer[Draft]):
    changed_by = serializers.CharField(source="changed_by.username")

    class Meta:
        model = Draft
        fields = ["text", "version", "changed_by", "changed_at"]


class RevisionSerializer(serializers.ModelSerializer[Revision]):
    task = serializers.CharField(source="task.name")
    author = serializers.CharField(source="author.username")
    approver = serializers.CharField(source="approver.username", default=None, allow_null=True)
    epsilon = Epsilon(help_text="Per window, as decimal text.")

    class Meta:
        model = Revision
        fields = [
            "task", "number", "state", "author", "submitted_at", "resumes", "spec_sha256",
            "client_task_sha256", "server_config_sha256", "content_sha256", "epsilon",
            "window_unit", "streams", "decided_at", "approver", "approved_at", "first_window",
            "until_window",
        ]  # fmt: skip


class WholeRevisionSerializer(RevisionSerializer):
    """With everything that was frozen, and the signature over it."""

    spec = serializers.JSONField(help_text="The spec, every default written out.")
    client_task = serializers.JSONField()
    server_config = serializers.JSONField()
    explain = serializers.CharField()
    warnings = serializers.JSONField()

    class Meta(RevisionSerializer.Meta):
        fields = [
            *RevisionSerializer.Meta.fields,
            "spec_text", "spec", "client_task", "server_config", "explain", "warnings",
            "key_id", "signature",
        ]  # fmt: skip


class WindowSerializer(serializers.ModelSerializer[TaskWindow]):
    revision = serializers.IntegerField(source="revision.number")

    class Meta:
        model = TaskWindow
        fields = ["window", "unit", "start", "end", "due_at", "revision", "state", "reason"]


class CommentSerializer(serializers.ModelSerializer[Comment]):
    author = serializers.CharField(source="author.username")
    revision = serializers.IntegerField(source="revision.number", default=None, allow_null=True)
    thread = serializers.IntegerField(
        source="thread_id", allow_null=True, help_text="The comment that this one answers."
    )
    resolved_by = serializers.CharField(
        source="resolved_by.username", default=None, allow_null=True
    )

    class Meta:
        model = Comment
        fields = [
            "id", "thread", "author", "text", "created_at", "revision", "part", "line",
            "decision", "resolved_at", "resolved_by",
        ]  # fmt: skip


class NewTaskSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=64)
    text = serializers.CharField(
        allow_blank=True, trim_whitespace=False, help_text="The spec, in YAML or JSON."
    )


class SaveDraftSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(allow_blank=True, trim_whitespace=False)
    base_version = serializers.IntegerField(
        min_value=1, help_text="The version this is based on; 409 if the draft is at another."
    )


class SubmitSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(min_value=1, help_text="The draft's, as you have seen it.")


class ReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=500, allow_blank=True, default="")


class DuplicateSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=64, help_text="Of the new task.")


class NewCommentSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=4000)
    thread = serializers.IntegerField(allow_null=True, default=None)
    revision = serializers.IntegerField(
        allow_null=True, default=None, help_text="The revision's number."
    )
    part = serializers.ChoiceField(
        choices=["sql", "client_sql", "server_sql"], allow_blank=True, default=""
    )
    line = serializers.IntegerField(min_value=1, allow_null=True, default=None)
