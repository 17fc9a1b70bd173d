"""Rows of releases for programs: in pages, or one row over windows."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.api import Pages
from portal.releases.filtering import Filter
from portal.releases.finding import find_release, find_releases
from portal.releases.opening import open_table
from portal.releases.permissions import SignedInOrPublic
from portal.releases.rows import Rows
from portal.releases.series import series, windows_asked

_EVERY = "cells"
_BESIDE = ("table", "page_size", "format")
_ROW = {
    "region": "2988507",
    "region_name": "Paris",
    "country": "FR",
    "population": 2138551,
    "activity": "cycling",
    "privacy_time_unit": "2026-11-09",
    "distance_km": 1234567.8,
    "distance_km_half_width": 4321.0,
    "distance_km_noise": 4321.0,
    "distance_km_clip_correction": 0.0,
    "distance_km_clip_uncertainty": None,
    "suppressed": None,
}
_TABLE = OpenApiParameter(
    "table", str, description="Name of the table, such as by-region-activity; all cells if absent."
)
_KEYS = [
    OpenApiParameter(
        name,
        str,
        many=True,
        description=f"Values of {name}, where it is a key of the table. Other keys work alike.",
    )
    for name in ("region", "activity")
]
_COUNTRY = OpenApiParameter(
    "country", str, many=True, description="Where countries or places are a key: its code."
)


class RowSerializer(serializers.Serializer[Any]):
    """A row by the names of its columns, which the dictionary of the release explains."""

    suppressed = serializers.CharField(
        allow_null=True, help_text="Why the row is not shown; null for one that is."
    )

    def to_representation(self, instance: Any) -> Any:
        return instance


class Cells(generics.GenericAPIView[Any]):
    """Rows of a table, with filters, sorting and pages

    Each key of the table can be asked for by its name, several times for several values. Beside
    each number stand the half-width of its interval at 95 % and what it is made of.
    """

    serializer_class = RowSerializer
    permission_classes = [SignedInOrPublic]
    pagination_class = Pages

    @extend_schema(
        parameters=[
            _TABLE,
            *_KEYS,
            _COUNTRY,
            OpenApiParameter("shown", bool, description="1 for rows that are shown."),
            OpenApiParameter(
                "sort",
                str,
                description="A number or key. Put - before it for the largest first, and "
                "_half_width or _relative after it to sort by its uncertainty.",
            ),
        ],
        responses=RowSerializer(many=True),
        examples=[OpenApiExample("A row", value=_ROW, response_only=True)],
    )
    def get(self, request: Request, task: str, window: str) -> Response:
        release = find_release(request.user, task, window)
        table = open_table(release, request.GET.get("table") or _EVERY)
        asked = Filter.parse(request.GET, table.layout, beside=_BESIDE)
        page = self.paginate_queryset(Rows(table, asked))
        return self.get_paginated_response(page)


class SeriesSerializer(serializers.Serializer[Any]):
    task = serializers.CharField()
    table = serializers.CharField()
    results = serializers.ListField(
        child=serializers.DictField(), help_text="A row per window, the oldest first."
    )


class Series(APIView):
    """One row over windows, the oldest first

    Give one value for each key of the table. Windows whose release has no such table are left
    out. Differences of two windows have the half-width √(a² + b²), since each window has noise
    of its own.
    """

    permission_classes = [SignedInOrPublic]

    @extend_schema(
        parameters=[
            _TABLE,
            *_KEYS,
            _COUNTRY,
            OpenApiParameter(
                "windows", OpenApiTypes.INT, description="How many of the newest windows; 26."
            ),
        ],
        responses=SeriesSerializer,
        examples=[
            OpenApiExample(
                "One week",
                value={
                    "task": "weekly-trips",
                    "table": "by-region-activity",
                    "results": [{"window": "2026-11-09", "label": "2026-W46", **_ROW}],
                },
                response_only=True,
            )
        ],
    )
    def get(self, request: Request, task: str) -> Response:
        table = request.GET.get("table") or _EVERY
        count = windows_asked(request.GET.get("windows", ""))
        rows = find_releases(request.user, task, newest=count)
        results = series(rows, table=table, query=request.GET)
        return Response({"task": task, "table": table, "results": results})
