"""Home, health and the theme."""

from datetime import UTC, datetime

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.models import Person, Role
from portal.clock import civil_clock
from portal.pages import health as health_check
from portal.pages.cards import cards_for
from portal.pages.context import THEMES
from portal.pages.health import Part
from portal.pages.home import Viewer
from portal.pages.now import now as what_goes_on
from portal.pages.todos import todos_for
from portal.releases.browsing.newest import Newest, newest

_YEAR_SECONDS = 365 * 86_400


@require_safe
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """What needs doing now, for the roles one has; what Mayfly is, for who does not know."""
    if not isinstance(request.user, Person):
        context = {"section": "home", "all_roles": list(Role), "newest": _newest(request.user)}
        return render(request, "pages/home_guest.html", context)
    viewer = Viewer(request.user, datetime.now(UTC))
    found = {"todos": todos_for(viewer), "cards": cards_for(viewer)}
    going_on = what_goes_on(request.user, clock=civil_clock())
    return render(request, "pages/home.html", {"section": "home", "now": going_on, **found})


def _newest(guest: AnonymousUser) -> Newest | None:
    """What Mayfly is can be read also while the database does not answer."""
    try:
        return newest(guest)
    except DatabaseError:
        return None


@require_safe
@never_cache
def now(request: HttpRequest) -> HttpResponse:
    """The part of the home page that changes by itself; no sign-in page for who signed out."""
    if not isinstance(request.user, Person):
        raise PermissionDenied
    found = what_goes_on(request.user, clock=civil_clock())
    return render(request, "pages/_now.html", {"now": found})


@require_safe
@never_cache
def health(request: HttpRequest) -> HttpResponse:
    """How the parts are: 200 or 503 for programs; people get a page either way."""
    parts = health_check.parts()
    well = all(part.ok for part in parts)
    if _wants_json(request):
        return _health_json(parts, well=well)
    return render(request, "pages/health.html", {"section": "health", "parts": parts, "well": well})


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Remember the theme in a cookie, so that the server draws the next page in it at once."""
    chosen = request.POST.get("theme", "")
    response = HttpResponseRedirect(_way_back(request))
    response.set_cookie(
        "theme",
        chosen if chosen in THEMES else "system",
        max_age=_YEAR_SECONDS,
        samesite="Lax",
        secure=not settings.DEMO,
        httponly=True,
    )
    return response


def _wants_json(request: HttpRequest) -> bool:
    asked = request.get_preferred_type(["text/html", "application/json"])
    return request.GET.get("format") == "json" or asked == "application/json"


def _health_json(parts: list[Part], *, well: bool) -> JsonResponse:
    body = {
        "status": "ok" if well else "degraded",
        "version": settings.VERSION,
        "parts": [
            {"name": p.name, "ok": p.ok, "detail": p.detail, "age_seconds": p.age_seconds}
            for p in parts
        ],
    }
    return JsonResponse(body, status=200 if well else 503)


def _way_back(request: HttpRequest) -> str:
    wanted = request.POST.get("next", "")
    ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if ours else reverse("home")
