"""What the editor's page asks for, and answers in one shape, also when something is wrong."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import msgspec
from django.http import HttpRequest, HttpResponseBase, JsonResponse

from aggregation.errors import Problem
from portal.problems import Conflict, TooOften

Body = TypeVar("Body", bound=msgspec.Struct)
View = Callable[..., HttpResponseBase]


class Change(msgspec.Struct, frozen=True):
    """One field of the form, as it was typed."""

    path: list[str]
    value: Any = None


class CheckBody(msgspec.Struct, frozen=True):
    text: str
    # Of the draft that the page has seen.
    version: int = 0
    changes: list[Change] = []


class SaveBody(msgspec.Struct, frozen=True):
    text: str
    version: int


class SqlBody(msgspec.Struct, frozen=True):
    sql: str


class StatementsBody(msgspec.Struct, frozen=True):
    """Two queries to nest, or one statement to take apart."""

    client_sql: str = ""
    server_sql: str = ""
    sql: str | None = None


def read_body(request: HttpRequest, form: type[Body]) -> Body:
    try:
        return msgspec.json.decode(request.body, type=form)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Problem("This is not what the editor sends.", hint="Load the page again.") from None


def answers_json(view: View) -> View:
    """Problems become the API's error shape: 409 where somebody else was quicker, 429 where it
    is too soon, else 400."""

    @wraps(view)
    def answering(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except Problem as problem:
            return _answer_to(problem)

    return answering


def _answer_to(problem: Problem) -> JsonResponse:
    detail = {"code": "problem", "message": problem.message, "hint": problem.hint}
    headers, status = {}, 409 if isinstance(problem, Conflict) else 400
    if isinstance(problem, TooOften):
        headers, status = {"Retry-After": str(problem.wait_seconds)}, 429
    return JsonResponse({"error": {**detail, "fields": []}}, status=status, headers=headers)
