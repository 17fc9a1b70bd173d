"""The API's ground: one error shape for everything that goes wrong, and pages of lists.

{"error": {"code": "…", "message": "a sentence", "hint": "a sentence or empty",
           "fields": [{"field": "…", "message": "…"}], "request_id": "…"}}
"""

import logging
from collections.abc import Iterator
from typing import Any, NoReturn

from django.core.exceptions import PermissionDenied
from django.core.signals import got_request_exception
from django.http import Http404
from rest_framework import exceptions, serializers
from rest_framework.pagination import PageNumberPagination
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, set_rollback

from aggregation.errors import Problem
from portal import tracing
from portal.kept_secrets import KeyDamaged, KeyGone
from portal.problems import AllBusy, Conflict, TooOften

log = logging.getLogger(__name__)

_MESSAGES = {
    "not_found": "There is nothing at this address, or it is not yours to see.",
    "not_authenticated": "This address is for people who are signed in and for their tokens.",
}
_HINTS = {
    "not_found": "The page /api lists every address.",
    "not_authenticated": "Send `Authorization: Bearer mfly_…`; /account/tokens makes a token.",
    "authentication_failed": "The page /account/tokens lists your tokens and makes new ones.",
    "parse_error": "Send one JSON document.",
    "unsupported_media_type": "Send JSON, with the header Content-Type: application/json.",
    "not_acceptable": "Ask for JSON, with the header Accept: application/json.",
}


class FieldErrorSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="Where it is, with dots; empty for the whole body.")
    message = serializers.CharField()


class ErrorDetailSerializer(serializers.Serializer[Any]):
    code = serializers.CharField(help_text="Stable: programs may compare it.")
    message = serializers.CharField(help_text="What is wrong, in a sentence.")
    hint = serializers.CharField(allow_blank=True, help_text="What to do about it, or empty.")
    fields = FieldErrorSerializer(many=True)  # type: ignore[assignment]
    request_id = serializers.CharField(
        required=False, help_text="What an operator searches the log for; also X-Request-ID."
    )


class ErrorSerializer(serializers.Serializer[Any]):
    """What every answer with a status of 400 or more looks like."""

    error = ErrorDetailSerializer()


class Pages(PageNumberPagination):
    """Lists come in pages: `?page=2&page_size=100`."""

    page_size = 50
    max_page_size = 500
    page_size_query_param = "page_size"
    page_query_description = "Which page of the list, from 1."
    page_size_query_description = "How many on a page, at most 500."
    invalid_page_message = "The list has no page {page_number}."

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        described = super().get_paginated_response_schema(schema)
        examples = {"count": 1, "next": None, "previous": None}
        for name, value in examples.items():
            described["properties"][name]["example"] = value
        return described


class UnknownAddress(APIView):
    """Whatever is not an address of the API answers in its error shape, too."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    schema = None  # no part of the description

    def get(self, request: Request, *args: Any, **kwargs: Any) -> NoReturn:
        raise Http404

    post = put = patch = delete = options = head = get


def error_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """The API's exception handler: DRF calls it with whatever a view raised."""
    set_rollback()
    match error:
        case KeyGone() | KeyDamaged():
            return None  # it is told of where it is told to pages, too
        case Http404():
            return _api_exception(exceptions.NotFound(), context)
        case PermissionDenied():
            return _api_exception(exceptions.PermissionDenied(*error.args), context)
        case exceptions.APIException():
            return _api_exception(error, context)
        case Problem():
            return _problem(error)
    return _unexpected(error, context)


def _problem(error: Problem) -> Response:
    if isinstance(error, TooOften | AllBusy):
        response = _answer(error.status, error.code, error.message, error.hint)
        response["Retry-After"] = str(error.wait_seconds)
        return response
    code, status = ("conflict", 409) if isinstance(error, Conflict) else ("problem", 400)
    return _answer(status, code, error.message, error.hint)


def _api_exception(error: exceptions.APIException, context: dict[str, Any]) -> Response:
    if isinstance(error, exceptions.ValidationError):
        return _invalid(error)
    code = str(error.get_codes())
    response = _answer(error.status_code, code, _message(error, code), _hint(error, code, context))
    if header := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = header
    if wait := getattr(error, "wait", None):
        response["Retry-After"] = str(int(wait))
    return response


def _message(error: exceptions.APIException, code: str) -> str:
    if isinstance(error, exceptions.Throttled):
        return "Too many calls."
    usual = str(error.detail) == str(type(error).default_detail)
    return _MESSAGES.get(code, str(error.detail)) if usual else str(error.detail)


def _hint(error: exceptions.APIException, code: str, context: dict[str, Any]) -> str:
    if isinstance(error, exceptions.Throttled):
        return f"Try again in {int(error.wait or 1)} seconds."  # type: ignore[attr-defined]
    if isinstance(error, exceptions.MethodNotAllowed):
        return f"This address takes {', '.join(context['view'].allowed_methods)}."
    if str(error.detail).startswith("CSRF Failed"):
        return "Send the page's token in the header X-CSRFToken, or use an API token."
    return _HINTS.get(code, "")


def _invalid(error: exceptions.ValidationError) -> Response:
    fields = [{"field": field, "message": text} for field, text in _flat(error.detail)]
    count = f"{len(fields)} fields do" if len(fields) > 1 else "One field does"
    message = f"{count} not fit." if any(f["field"] for f in fields) else fields[0]["message"]
    return _answer(400, "invalid", message, "The fields say what to change.", fields)


def _flat(detail: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of DRF's nested details, each with the dotted name of its field."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            part = "" if name == "non_field_errors" else str(name)
            yield from _flat(inner, ".".join(filter(None, [at, part])))
    elif isinstance(detail, list):
        for number, inner in enumerate(detail):
            nested = isinstance(inner, dict | list)
            yield from _flat(inner, f"{at}.{number}".strip(".") if nested else at)
    else:
        yield at, str(detail)


def _unexpected(error: Exception, context: dict[str, Any]) -> Response:
    """Our mistake: logged with its place, told as such, and without a word of its content."""
    request = context["request"]
    got_request_exception.send(sender=None, request=request)
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    hint = "It has been logged. Try again, and tell an operator if it stays."
    return _answer(500, "server_error", "Something went wrong on our side.", hint)


def _answer(
    status: int, code: str, message: str, hint: str = "", fields: list[dict[str, str]] | None = None
) -> Response:
    detail = {"code": code, "message": message, "hint": hint, "fields": fields or []}
    return Response({"error": {**detail, "request_id": tracing.current().request}}, status=status)
