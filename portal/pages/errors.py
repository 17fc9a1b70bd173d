"""Pages for when something is wrong. They say what happened and where to go from here.

Programs that asked the API get the API's error shape instead.
"""

import logging

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin

from portal import tracing
from portal.kept_secrets import KeyDamaged, KeyGone
from portal.pages.context import for_guests, theme

log = logging.getLogger(__name__)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _from_program(request):
        return _json(400, "bad_request", "The request could not be understood.")
    wrong_host = isinstance(exception, DisallowedHost)
    return render(request, "400.html", {"wrong_host": wrong_host}, status=400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    reason = str(exception) or "Your roles do not let you do this."
    if _from_program(request):
        return _json(403, "permission_denied", reason)
    return render(request, "403.html", {"reason": reason}, status=403)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _from_program(request):
        hint = "The page /api lists every address."
        return _json(404, "not_found", f"There is nothing at {request.path}.", hint)
    return render(request, "404.html", {"reason": _own_words(exception)}, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Drawn without asking the database or any other part: one of them may be the reason."""
    if _from_program(request):
        return _json(500, "server_error", "Something went wrong on the server.", "See /health.")
    shown = {**for_guests(), "theme": theme(request), "request_id": tracing.current().request}
    return HttpResponse(render_to_string("500.html", shown), status=500)


class WhenAKeyIsGone(MiddlewareMixin):
    """Nothing is wrong with the program or the request: somebody has to put the key back."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, KeyGone | KeyDamaged):
            return None
        log.error("%s", error)
        if _from_program(request):
            message = "A key of this system is missing or damaged."
            return _json(503, "key_gone", message, "Operators see which one on /overview.")
        shown = {**for_guests(), "theme": theme(request)}
        return HttpResponse(render_to_string("503_key.html", shown), status=503)


class WhenAMethodIsNotTaken(MiddlewareMixin):
    """What a view answers to a method that it does not take has no words of its own."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        if isinstance(response, HttpResponseNotAllowed):
            response.content = render(request, "405.html").content
        return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    if _from_program(request):
        return _json(403, "csrf_failed", "The request carried no valid CSRF token.")
    return render(request, "403_form.html", status=403)


def _json(status: int, code: str, message: str, hint: str = "") -> JsonResponse:
    error = {"code": code, "message": message, "hint": hint, "fields": []}
    found = {**error, "request_id": tracing.current().request}
    return JsonResponse({"error": found}, status=status)


def _from_program(request: HttpRequest) -> bool:
    return request.path.startswith("/api/v1/")


def _own_words(exception: Exception) -> str:
    """The sentence a view gave its Http404; not the resolver's list of all it has tried, nor what
    Django says of a row that is not there."""
    words = exception.args[0] if exception.args else ""
    is_ours = isinstance(words, str) and not words.endswith(" matches the given query.")
    return words if is_ours else ""
