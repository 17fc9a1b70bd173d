"""`GET /metrics`, with a token of an operator that has the scope operate."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from portal.access import with_role
from portal.accounts.models import Role, Scope
from portal.pages.metrics import metrics
from portal.pages.metrics_text import CONTENT_TYPE, as_text


class Metrics(APIView):
    """Metrics in Prometheus' text format."""

    permission_classes = [with_role(Role.OPERATOR, scope=Scope.OPERATE)]

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Whatever a scraper asks for: metrics are text, errors are JSON."""
        return JSONRenderer(), JSONRenderer.media_type

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(as_text(metrics()), content_type=CONTENT_TYPE)
