"""The fleet for programs of operators: what the page shows, and no more."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.permissions import Operating
from portal.clock import civil_clock
from portal.collection.fleet import fleet
from portal.collection.fleet_counts import Span
from portal.collection.forms import FleetForm


class CoarseField(serializers.IntegerField):
    """A count with two significant digits; 0 stands for everything below 1000."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(read_only=True, **kwargs)

    def to_representation(self, value: Any) -> int:
        return int(value.number)


class FunnelSerializer(serializers.Serializer[Any]):
    start = serializers.DateField(source="choice.start")
    population = serializers.CharField(
        source="choice.population", help_text="Empty for every population together."
    )
    active = CoarseField(help_text="Installs that had reported by the end of it.")
    checked_in = CoarseField(help_text="Check-ins, not devices.")
    assigned = CoarseField(help_text="Assignments given, one for each task.")
    turned_away = CoarseField(help_text="Assignments not given.")
    uploaded = CoarseField(
        help_text="Uploads taken; of one population only those for tasks of it alone."
    )


class EndedSerializer(serializers.Serializer[Any]):
    why = serializers.CharField()
    call = serializers.CharField(help_text="Empty if it is no call that was refused.")
    count = CoarseField()


class ReachSerializer(serializers.Serializer[Any]):
    task = serializers.CharField()
    window = serializers.CharField()
    unit = serializers.CharField()
    contributed = serializers.IntegerField(help_text="Devices, coarse.")
    active = serializers.IntegerField(help_text="Installs that could have contributed, coarse.")
    percent = serializers.IntegerField(
        allow_null=True, help_text="About; the most it can be, if too few devices contributed."
    )


class CallSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    count = CoarseField()
    up = serializers.ListField(
        child=serializers.CharField(), help_text="p50 and p95; empty below 1000 calls."
    )
    down = serializers.ListField(child=serializers.CharField())
    time = serializers.ListField(child=serializers.CharField())


class FleetSerializer(serializers.Serializer[Any]):
    span = serializers.ChoiceField(source="choice.span", choices=Span.choices)
    start = serializers.DateField(source="choice.start")
    population = serializers.CharField(source="choice.population")
    series = FunnelSerializer(many=True)
    populations = FunnelSerializer(many=True)
    reach = ReachSerializer(many=True)
    turned_away = EndedSerializer(many=True)
    refused_calls = EndedSerializer(many=True)
    refused_updates = EndedSerializer(many=True)
    calls = CallSerializer(source="calls.each", many=True)
    bytes_per_upload = serializers.IntegerField(
        source="calls.bytes_per_upload",
        allow_null=True,
        help_text="Of all calls together, for each upload taken; null below 1000 uploads.",
    )


class FleetCounts(APIView):
    """Reach, the funnel to it, and what calls cost

    Counts have two significant digits, and 0 stands for everything below 1000.
    """

    permission_classes = [Operating]

    @extend_schema(
        parameters=[
            OpenApiParameter("by", str, description="`day` or `week`."),
            OpenApiParameter("at", str, description="YYYY-MM-DD, UTC: a day of it."),
            OpenApiParameter("population", str),
        ],
        responses=FleetSerializer,
    )
    def get(self, request: Request) -> Response:
        today = civil_clock().now().date()
        form = FleetForm(request.query_params, today=today)
        if not form.is_valid():
            raise serializers.ValidationError(
                {name: [str(e) for e in found] for name, found in form.errors.items()}
            )
        return Response(FleetSerializer(fleet(form.choice(), today=today)).data)
