"""Requests of people and programs, observed: an id for each, and how long each address takes.

What is told of a request is its method, the pattern of its address and its status. Neither the
address itself nor its query, headers or body are: they may hold what is secret.
"""

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from portal import measuring, tracing

log = logging.getLogger(__name__)

# What takes longer is worth a line by itself.
SLOW_SECONDS = 5.0
_SAFE = ("GET", "HEAD", "OPTIONS")
# Any other method is reported as one, so that callers cannot invent labels.
_METHODS = (*_SAFE, "POST", "PUT", "PATCH", "DELETE")

Answered = Callable[[HttpRequest], Any]


@sync_and_async_middleware
def observed(get_response: Answered) -> Answered:
    if iscoroutinefunction(get_response):

        async def asynchronously(request: HttpRequest) -> HttpResponseBase:
            began = _begin(request)
            with tracing.tracing(_trace(request)):
                answer: Awaitable[HttpResponseBase] = get_response(request)
                return _end(request, await answer, began)

        return asynchronously

    def at_once(request: HttpRequest) -> HttpResponseBase:
        began = _begin(request)
        with tracing.tracing(_trace(request)):
            return _end(request, get_response(request), began)

    return at_once


def _begin(request: HttpRequest) -> float:
    sent = request.headers.get(tracing.HEADER, "")
    request.request_id = tracing.request_id(sent)  # type: ignore[attr-defined]
    return time.perf_counter()


def _trace(request: HttpRequest) -> tracing.Trace:
    return tracing.Trace(request=request.request_id)  # type: ignore[attr-defined]


def _end(request: HttpRequest, response: HttpResponseBase, began: float) -> HttpResponseBase:
    seconds, route = time.perf_counter() - began, _route(request)
    response.headers[tracing.HEADER] = tracing.current().request
    method = request.method if request.method in _METHODS else "OTHER"
    status = response.status_code
    measuring.took("request", seconds, method=method, route=route, status=f"{status // 100}xx")
    _tell(method, route, status, seconds)
    return response


def _route(request: HttpRequest) -> str:
    """As it stands in the list of addresses; unknown ones, and there are many, are one."""
    match = request.resolver_match
    return f"/{match.route.lstrip('^')}" if match else "unknown"


def _tell(method: str, route: str, status: int, seconds: float) -> None:
    """What changes something or is slow has a line; the rest only where every detail is wanted."""
    level = logging.DEBUG if method in _SAFE else logging.INFO
    if seconds >= SLOW_SECONDS:
        level = logging.WARNING
    told = {"method": method, "route": route, "status": status, "ms": round(1000 * seconds)}
    log.log(level, "%s %s: %s, %d ms", method, route, status, told["ms"], extra={"told": told})
