"""Files of releases for programs: exports, the card, and the data dictionary."""

import json
from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.releases.dictionary import dictionary_document
from portal.releases.finding import find_release
from portal.releases.permissions import SignedInOrPublic
from portal.releases.views_files import file_answer


class DictionaryColumnSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    type = serializers.ChoiceField(["text", "integer", "real"])
    unit = serializers.CharField(allow_blank=True, help_text="What the number counts, or empty.")
    meaning = serializers.CharField()
    is_beside = serializers.BooleanField(
        help_text="Whether it is in CSV, JSON, GeoJSON and the API alone, not in the signed file."
    )


class DictionaryTableSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    rows = serializers.IntegerField()
    columns = DictionaryColumnSerializer(many=True)


class DictionarySerializer(serializers.Serializer[Any]):
    task = serializers.CharField()
    window = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # DRF's own name
    intervals = serializers.CharField(help_text="Which terms the intervals hold.")
    tables = DictionaryTableSerializer(many=True)


class Dictionary(APIView):
    """The data dictionary of a release

    Every table with its columns: type, unit and meaning.
    """

    permission_classes = [SignedInOrPublic]

    @extend_schema(responses=DictionarySerializer)
    def get(self, request: Request, task: str, window: str) -> Response:
        return Response(dictionary_document(find_release(request.user, task, window)))


class Card(APIView):
    """The guarantee card of a release

    What is guaranteed, to whom, under which assumptions, and what is not.
    """

    permission_classes = [SignedInOrPublic]

    @extend_schema(
        responses=OpenApiTypes.OBJECT,
        examples=[
            OpenApiExample(
                "The beginning of a card",
                value={"task": "weekly-trips", "window": "2026-11-09", "epsilon": "2"},
                response_only=True,
            )
        ],
    )
    def get(self, request: Request, task: str, window: str) -> Response:
        return Response(json.loads(find_release(request.user, task, window).card))


class _AnyMedia(DefaultContentNegotiation):
    """The name of a file says what it is, whatever the caller would take."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


class Exports(APIView):
    """A file of a release, or rows of a table as CSV, JSON, GeoJSON or Parquet

    The name of a table with the ending of the format, such as by-region.csv; filters and sorting
    are those of the cells. All rows as Parquet are the signed file, byte for byte. Sent while it
    is made, with an ETag.
    """

    permission_classes = [SignedInOrPublic]
    content_negotiation_class = _AnyMedia

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "name", str, OpenApiParameter.PATH, description="Such as by-region-activity.csv."
            )
        ],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, task: str, window: str, name: str) -> HttpResponseBase:
        release = find_release(request.user, task, window)
        return file_answer(request._request, release, name)
