"""Is anything wrong, and what to do: the operators' overview; and readiness, for load balancers."""

from datetime import UTC, datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from portal.access import role_required
from portal.accounts.models import Role
from portal.clock import civil_clock
from portal.pages.overview.selectors import look
from portal.pages.readiness import needs


@require_safe
@never_cache
@role_required(Role.OPERATOR)
def overview(request: HttpRequest) -> HttpResponse:
    found = look(clock=civil_clock())
    context = {"section": "overview", "looked": found, "at": datetime.now(UTC)}
    return render(request, "pages/overview.html", context)


@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """200 when this front end has all that it needs, else 503, with what is missing."""
    found = needs()
    well = all(need.ok for need in found)
    body = {
        "status": "ready" if well else "not ready",
        "version": settings.VERSION,
        "needs": [{"name": n.name, "ok": n.ok, "detail": n.detail} for n in found],
    }
    return JsonResponse(body, status=200 if well else 503)
