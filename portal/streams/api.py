"""The streams catalog for programs."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from portal.api import ErrorSerializer
from portal.streams import selectors
from portal.streams.describing import ColumnFacts, StreamFacts
from portal.streams.finding import find_domain, find_stream


class DomainSerializer(serializers.Serializer[Any]):
    sha256 = serializers.CharField(help_text="SHA-256 of its values in order, as compact JSON.")
    size = serializers.IntegerField()
    url = serializers.URLField(help_text="Its values, in pages.")


class ColumnSerializer(serializers.Serializer[ColumnFacts]):
    name = serializers.CharField(source="column.name")
    type = serializers.ChoiceField(["text", "integer", "real", "time"], source="column.type")
    unit = serializers.CharField(source="column.unit", allow_blank=True)
    description = serializers.CharField(source="column.description")
    domain = serializers.SerializerMethodField(help_text="The closed set of values it may take.")
    nullable = serializers.BooleanField(source="column.nullable")
    minimum = serializers.FloatField(source="column.minimum", allow_null=True)
    typical = serializers.ListField(
        child=serializers.FloatField(),
        source="column.typical",
        allow_null=True,
        help_text="What most events have, from and to: a hint, never a bound.",
    )
    stamped = serializers.BooleanField(
        source="column.stamped", help_text="Set by the device's runtime, not by the event."
    )
    queryable = serializers.BooleanField(source="column.queryable")
    use = serializers.CharField(help_text="What a query can do with it.")

    @extend_schema_field(DomainSerializer(allow_null=True))
    def get_domain(self, facts: ColumnFacts) -> dict[str, Any] | None:
        if facts.domain is None:
            return None
        names = {"name": self.context["stream"], "column": facts.column.name}
        url = reverse("api_domain", kwargs=names, request=self.context["request"])
        return {"sha256": facts.column.domain, "size": facts.size, "url": url}


class StreamSerializer(serializers.Serializer[StreamFacts]):
    name = serializers.CharField(source="stream.name")
    title = serializers.CharField(source="stream.title")
    description = serializers.CharField(source="stream.description")
    ttl_days = serializers.IntegerField(
        source="stream.ttl_days", help_text="Older events are purged from the device."
    )
    sha256 = serializers.CharField(source="stream.sha256")
    columns = serializers.SerializerMethodField()

    @extend_schema_field(ColumnSerializer(many=True))
    def get_columns(self, facts: StreamFacts) -> Any:
        context = {**self.context, "stream": facts.stream.name}
        return [ColumnSerializer(column, context=context).data for column in facts.columns]


class PlaceSerializer(serializers.Serializer[Any]):
    """Data from GeoNames, CC BY 4.0."""

    geonameid = serializers.IntegerField()
    name = serializers.CharField()
    country = serializers.CharField(help_text="ISO 3166 alpha-2.")
    latitude = serializers.FloatField()
    longitude = serializers.FloatField()
    population = serializers.IntegerField()
    timezone = serializers.CharField()
    admin1 = serializers.CharField(help_text="GeoNames code of the first-level division.")


class ValueSerializer(serializers.Serializer[Any]):
    index = serializers.IntegerField(help_text="Its place in the order of the domain, from 0.")
    value = serializers.JSONField(help_text="A text or a whole number.")
    name = serializers.CharField(
        source="label", allow_blank=True, help_text="What the value stands for; else empty."
    )
    place = PlaceSerializer(allow_null=True)


_ERRORS = {404: ErrorSerializer}


class Streams(generics.GenericAPIView[Any]):
    serializer_class = StreamSerializer

    @extend_schema(summary="The streams installed here", responses=StreamSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Named on-device tables; a task reads one or more of them."""
        page = self.paginate_queryset(selectors.streams())
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class OneStream(APIView):
    @extend_schema(summary="One stream", responses={200: StreamSerializer, **_ERRORS})
    def get(self, request: Request, name: str) -> Response:
        """Its columns with their types, units, domains and typical ranges."""
        return Response(StreamSerializer(find_stream(name), context={"request": request}).data)


class DomainValues(generics.GenericAPIView[Any]):
    serializer_class = ValueSerializer

    @extend_schema(
        summary="The values of a column's domain",
        parameters=[
            OpenApiParameter(
                "q", str, description="Words to look for, without regard to case and accents."
            )
        ],
        responses={200: ValueSerializer(many=True), **_ERRORS},
    )
    def get(self, request: Request, name: str, column: str) -> Response:
        """In the order of the domain; regions are the most populous places first."""
        _, found = find_domain(name, column)
        text = request.query_params.get("q", "")
        values = selectors.domain_values(domain=found.column.domain or "", text=text)
        page = self.paginate_queryset(values)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)
