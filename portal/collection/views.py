"""The operators' page of sessions, and the stream that keeps it fresh."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from portal.access import role_required
from portal.accounts.models import Role
from portal.clock import civil_clock
from portal.collection.overview import overview
from portal.collection.streaming import stream, stream_or_refuse


@require_safe
@never_cache
@role_required(Role.OPERATOR)
def sessions(request: HttpRequest) -> HttpResponse:
    found = overview(now=civil_clock().now())
    return render(request, "collection/sessions.html", {"section": "sessions", "overview": found})


@require_safe
@never_cache
@role_required(Role.OPERATOR)
def sessions_live(request: HttpRequest) -> HttpResponseBase:
    """Server-sent events: the same page's middle, whenever it has changed."""
    return stream_or_refuse(stream(request.user))
