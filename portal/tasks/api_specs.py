"""What the editor shows beside a spec, for programs: forecast, preview, cost, layout, templates.

Nothing is stored. A spec that the compiler refuses has none of these.
"""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aggregation.compiler import Compiled
from aggregation.errors import Problem
from aggregation.protocol.spec_reading import read_spec
from portal.access import with_role
from portal.accounts.models import Role
from portal.clock import civil_clock
from portal.streams.selectors import installed_catalog
from portal.tasks.api import Document, SpecSerializer, document_of
from portal.tasks.api_tasks import checked, person
from portal.tasks.editor_check import compiled_of
from portal.tasks.editor_cost import cost
from portal.tasks.editor_format import formatted
from portal.tasks.editor_sql import combined, taken_apart
from portal.tasks.forecast import forecast
from portal.tasks.pacing import pace_previews
from portal.tasks.populations import known_populations
from portal.tasks.preview_places import preview_now
from portal.tasks.rights import READERS
from portal.tasks.serializers_specs import (
    CostSerializer,
    ForecastSerializer,
    PreviewSerializer,
    SqlSerializer,
    StartingPointSerializer,
    StatementsSerializer,
)
from portal.tasks.starting_points import starting_points

_BODY: Any = {"application/json": SpecSerializer, "application/yaml": str}


class OfSpec(APIView):
    """The body is the document itself, or `{"spec": …}` around its text."""

    permission_classes = [with_role(*READERS, scope="read")]
    parser_classes = [Document]

    def compiled(self, request: Request) -> Compiled:
        try:
            found = compiled_of(text_of(request), installed_catalog(), known_populations())
        except UnicodeDecodeError:
            found = None
        if found is None:
            raise Problem(
                "The compiler refuses this spec.",
                hint="Post it to /api/v1/specs/compile, which says why.",
            )
        return found


def text_of(request: Request) -> str:
    found = document_of(request)
    return found.decode() if isinstance(found, bytes) else found


class SpecForecast(OfSpec):
    """How large the noise of a task would be, and the smallest value that is shown"""

    @extend_schema(request=_BODY, responses=ForecastSerializer)
    def post(self, request: Request) -> Response:
        found = forecast(self.compiled(request), installed_catalog())
        return Response(ForecastSerializer(found).data)


class SpecPreview(OfSpec):
    """A task run on invented phones: their bounded updates, and what they add up to, un-noised"""

    @extend_schema(request=_BODY, responses=PreviewSerializer)
    def post(self, request: Request) -> Response:
        compiled = self.compiled(request)
        pace_previews(person(request))
        return Response(PreviewSerializer(preview_now(compiled)).data)


class SpecCost(OfSpec):
    """What a task would reserve in the coming weeks, and what is left of them"""

    @extend_schema(request=_BODY, responses=CostSerializer)
    def post(self, request: Request) -> Response:
        compiled = self.compiled(request)
        name = read_spec(text_of(request)).name
        found = cost(compiled, task=name, now=civil_clock().now())
        return Response(CostSerializer(found).data)


class SpecTemplates(APIView):
    """Specs to start from, each a whole task that compiles as it stands"""

    permission_classes = [with_role(*READERS)]

    @extend_schema(responses=StartingPointSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response(StartingPointSerializer(starting_points(), many=True).data)  # type: ignore[arg-type]


class FormatSql(APIView):
    """Lay a query out, comments kept"""

    permission_classes = [with_role(Role.ANALYST, scope="read")]

    @extend_schema(request=SqlSerializer, responses=SqlSerializer)
    def post(self, request: Request) -> Response:
        return Response({"sql": formatted(checked(SqlSerializer, request)["sql"])})


class Statements(APIView):
    """Two queries as one nested statement, or the other way round"""

    permission_classes = [with_role(Role.ANALYST, scope="read")]

    @extend_schema(request=StatementsSerializer, responses=StatementsSerializer)
    def post(self, request: Request) -> Response:
        given = checked(StatementsSerializer, request)
        if given.get("sql"):
            client, server = taken_apart(given["sql"])
            return Response({"client_sql": client, "server_sql": server})
        return Response({"sql": combined(given.get("client_sql", ""), given.get("server_sql", ""))})
