"""A password that someone else chose is replaced before anything else; what is private stays so."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

# What remains open: the way to a new password, the way out, and what guests may see as well.
_OPEN = frozenset(
    {"password", "logout", "login", "switch_role", "theme", "health", "ready", "docs", "docs_page"}
)
_SENTENCE = "Choose a password of your own first: somebody else knows this one."


class OwnPasswordFirst(MiddlewareMixin):
    """Keeps such a person on the password page; the API refuses with a sentence."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any
    ) -> HttpResponseBase | None:
        match = request.resolver_match
        # Asked first: /health must not touch a database that may be down.
        if match is None or match.url_name in _OPEN:
            return None
        if not getattr(request.user, "must_change_password", False):
            return None
        return _answer(request)


def _answer(request: HttpRequest) -> HttpResponseBase:
    address = reverse("password")
    if request.path.startswith("/api/"):
        error = {"code": "password_change_needed", "message": _SENTENCE, "fields": []}
        return JsonResponse(
            {"error": {**error, "hint": f"The page {address} does it."}}, status=403
        )
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": address})
    return redirect(address)


class KeptPrivate(MiddlewareMixin):
    """What a person or their program was answered stays out of every cache.

    So nobody finds it with the back button of a browser whose owner has signed out, or in a proxy.
    Whoever sends a session or a token counts as signed in; a view's own word on caching stands.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        signed_in = settings.SESSION_COOKIE_NAME in request.COOKIES
        if signed_in or "Authorization" in request.headers:
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response
