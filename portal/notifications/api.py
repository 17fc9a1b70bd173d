"""One's own notifications, for programs."""

from typing import cast

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.models import Person
from portal.notifications import selectors, services
from portal.notifications.models import Notification


class NotificationSerializer(serializers.ModelSerializer[Notification]):
    event_id = serializers.UUIDField(read_only=True)
    kind = serializers.CharField(source="event.kind", read_only=True)
    title = serializers.CharField(source="event.title", read_only=True)
    body = serializers.CharField(source="event.body", read_only=True)
    link = serializers.CharField(source="event.link", read_only=True)
    created_at = serializers.DateTimeField(source="event.created_at", read_only=True)
    civil_at = serializers.DateTimeField(source="event.civil_at", read_only=True)

    class Meta:
        model = Notification
        fields = [
            "id", "event_id", "kind", "title", "body", "link", "created_at", "civil_at", "read_at",
        ]  # fmt: skip
        read_only_fields = fields


@extend_schema_view(
    get=extend_schema(
        summary="Your notifications, unread ones first",
        parameters=[OpenApiParameter("unread", bool, description="`true` leaves out read ones.")],
    )
)
class Notifications(generics.ListAPIView[Notification]):
    """Only your own: there is no way to ask for somebody else's."""

    serializer_class = NotificationSerializer

    def get_queryset(self) -> QuerySet[Notification]:
        found = _own(self.request)
        only_unread = self.request.GET.get("unread", "").lower() in ("true", "1")
        return found.filter(read_at=None) if only_unread else found


class NotificationRead(APIView):
    """Marking it a second time changes nothing."""

    @extend_schema(
        summary="Mark a notification as read", request=None, responses=NotificationSerializer
    )
    def post(self, request: Request, pk: int) -> Response:
        notification = get_object_or_404(_own(request), pk=pk)
        services.mark_read(notification=notification)
        return Response(NotificationSerializer(notification).data)


def _own(request: Request) -> QuerySet[Notification]:
    return selectors.notifications_of(cast(Person, request.user))
