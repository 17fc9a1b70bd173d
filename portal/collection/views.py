"""The operators' pages of sessions and of the fleet, and the streams that keep them fresh."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from portal.access import role_required
from portal.accounts.models import Role
from portal.clock import civil_clock
from portal.collection.fleet import Fleet, fleet
from portal.collection.forms import FleetForm
from portal.collection.overview import overview
from portal.collection.streaming import Middle, stream, stream_or_refuse


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

    def find() -> object:
        return overview(now=civil_clock().now())

    return stream_or_refuse(
        stream(request.user, Middle("collection/_overview.html", "overview", find))
    )


@require_safe
@never_cache
@role_required(Role.OPERATOR)
def fleet_page(request: HttpRequest) -> HttpResponse:
    form, found = _asked(request)
    context = {"section": "fleet", "fleet": found, "form": form}
    return render(request, "collection/fleet.html", context, status=400 if form.errors else 200)


@require_safe
@never_cache
@role_required(Role.OPERATOR)
def fleet_live(request: HttpRequest) -> HttpResponseBase:
    def find() -> Fleet:
        return _asked(request)[1]

    return stream_or_refuse(stream(request.user, Middle("collection/_fleet.html", "fleet", find)))


def _asked(request: HttpRequest) -> tuple[FleetForm, Fleet]:
    """Today is asked for at every look: a page that stays open goes on to the next day."""
    today = civil_clock().now().date()
    form = FleetForm(request.GET, today=today)
    return form, fleet(form.choice(), today=today)
