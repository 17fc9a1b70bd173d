"""Task specs for programs: the same judgement as `manage.py compile_spec`."""

import json
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.access import with_role
from portal.streams.selectors import installed_catalog
from portal.tasks.judging import judged, weekly_cap
from portal.tasks.populations import known_populations


class SpecSerializer(serializers.Serializer[Any]):
    spec = serializers.CharField(help_text="The document, as YAML or JSON text, or as an object.")


class Document(BaseParser):
    """The body as it is: the compiler reads YAML and JSON itself, and knows their lines."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        return stream.read()


class DiagnosticSerializer(serializers.Serializer[Any]):
    rule = serializers.CharField()
    severity = serializers.ChoiceField(choices=["refusal", "warning"])
    message = serializers.CharField()
    hint = serializers.CharField(allow_blank=True)
    part = serializers.CharField(help_text="client_sql, server_sql, sql, or the path of a field.")
    line = serializers.IntegerField(allow_null=True)
    column = serializers.IntegerField(allow_null=True)


class ReportSerializer(serializers.Serializer[Any]):
    accepted = serializers.BooleanField()
    diagnostics = DiagnosticSerializer(many=True)
    client_task = serializers.JSONField(allow_null=True)
    server_config = serializers.JSONField(allow_null=True)
    explain = serializers.CharField(allow_null=True)


class CompileSpec(APIView):
    """Judge a task spec. Nothing is stored; a refusal is an answer, not an error.

    The body is the document itself, as YAML or JSON, or `{"spec": …}` around its text.
    """

    permission_classes = [with_role(scope="read")]
    parser_classes = [Document]

    @extend_schema(
        summary="Compile a task spec",
        request={"application/json": SpecSerializer, "application/yaml": str},
        responses=ReportSerializer,
    )
    def post(self, request: Request) -> Response:
        text, catalog = document_of(request), installed_catalog()
        _, report = judged(text, catalog, known_populations(), cap=weekly_cap())
        return Response(report)


def document_of(request: Request) -> str | bytes:
    """The spec that a body is, or holds."""
    # An empty body is not parsed at all.
    return _unwrapped(request.data if isinstance(request.data, bytes) else b"")


def _unwrapped(body: bytes) -> str | bytes:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(found, dict) or set(found) != {"spec"}:
        return body
    return found["spec"] if isinstance(found["spec"], str) else json.dumps(found["spec"])
