"""The ledger for programs."""

from datetime import date
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.access import with_role
from portal.accounts.models import Role
from portal.clock import civil_clock
from portal.ledger.amounts import in_words
from portal.ledger.forms import LedgerForm
from portal.ledger.selectors import WeekFacts, ledger


@extend_schema_field(OpenApiTypes.STR)
class Epsilon(serializers.Field[int, Any, str, int]):
    """ε as decimal text, so that it means the same everywhere."""

    def to_representation(self, value: int) -> str:
        return in_words(value)


class ShareSerializer(serializers.Serializer[Any]):
    task = serializers.CharField()
    windows = serializers.IntegerField(help_text="How many windows overlap the week.")
    reserved = Epsilon()
    spent = Epsilon()


class WeekSerializer(serializers.Serializer[WeekFacts]):
    stream = serializers.CharField()
    week = serializers.CharField(source="label", help_text="Such as 2026-W47.")
    monday = serializers.DateField()
    cap = Epsilon()
    reserved = Epsilon()
    spent = Epsilon()
    left = Epsilon()
    tasks = ShareSerializer(many=True, source="shares")


class Ledger(APIView):
    """What each stream may cost a device per civil week, and what takes it

    Amounts are ε as decimal text. Without parameters: every stream, the week under way and the
    seven after it.
    """

    permission_classes = [with_role(Role.ANALYST, Role.REVIEWER, Role.OPERATOR)]

    @extend_schema(
        responses=WeekSerializer(many=True),
        parameters=[
            OpenApiParameter("stream", str),
            OpenApiParameter("first", date, description="A day of the first week, YYYY-MM-DD."),
            OpenApiParameter("weeks", int, description="How many, 1 to 53."),
        ],
    )
    def get(self, request: Request) -> Response:
        form = LedgerForm(request.GET, now=civil_clock().now())
        if not form.is_valid():
            raise serializers.ValidationError(
                {name: [str(e) for e in found] for name, found in form.errors.items()}
            )
        found = ledger(streams=form.streams(), first=form.first_monday(), weeks=form.how_many())
        rows = [week for weeks in found.values() for week in weeks]
        return Response(WeekSerializer(rows, many=True).data)  # type: ignore[arg-type]
