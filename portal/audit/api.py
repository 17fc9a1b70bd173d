"""The audit log for programs."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, serializers

from portal.access import with_role
from portal.audit.forms import AuditForm
from portal.audit.models import Entry
from portal.audit.selectors import entries_matching


class ChangeSerializer(serializers.Serializer[Any]):
    field = serializers.CharField()
    # "from" is a word of the language, so the field is declared by name below.
    to = serializers.JSONField(allow_null=True)

    def get_fields(self) -> dict[str, Any]:
        return {**super().get_fields(), "from": serializers.JSONField(allow_null=True)}


class EntrySerializer(serializers.ModelSerializer[Entry]):
    changes = ChangeSerializer(many=True)

    class Meta:
        model = Entry
        fields = [
            "seq", "at", "civil_at", "actor_id", "actor", "action",
            "object_type", "object_id", "object_label", "changes", "previous", "hash",
        ]  # fmt: skip


@extend_schema_view(
    get=extend_schema(
        summary="The audit log, newest first",
        parameters=[
            OpenApiParameter("person", str, description="Username, or `system`."),
            OpenApiParameter("action", str, description="Such as `token.created`."),
            OpenApiParameter("object_type", str),
            OpenApiParameter("object_label", str, description="All of it, or a part."),
            OpenApiParameter("object_id", str),
            OpenApiParameter("first_day", str, description="YYYY-MM-DD, in civil time."),
            OpenApiParameter("last_day", str, description="YYYY-MM-DD, in civil time, included."),
        ],
    )
)
class AuditEntries(generics.ListAPIView[Entry]):
    """Needs the role reviewer or operator. Each entry's hash covers it and the entry before."""

    serializer_class = EntrySerializer
    permission_classes = [with_role("reviewer", "operator")]

    def get_queryset(self) -> QuerySet[Entry]:
        if getattr(self, "swagger_fake_view", False):
            return Entry.objects.none()  # the schema is made without a database
        form = AuditForm(self.request.GET or None)
        if form.is_bound and not form.is_valid():
            raise serializers.ValidationError(
                {name: [str(e) for e in found] for name, found in form.errors.items()}
            )
        return entries_matching(form.wanted())
