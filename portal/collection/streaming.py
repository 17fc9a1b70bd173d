"""Server-sent events for a page: what has changed, until somebody leaves or the server stops.

The stream ends by itself after a few minutes, and the browser comes again, so that whoever signed
out or lost a role does not look on for long; the role is also asked for at every look. It ends as
well when the server stops, which would otherwise wait for it and cut it off.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.template.loader import render_to_string

from portal.accounts.models import Person, Role
from portal.stopping import is_stopping

# Streams of this process; each costs a look at the database every few seconds.
MOST_STREAMS = 20
LASTS_SECONDS = 300.0
_AGAIN_MS = 2000
# A server that stops is noticed within this time.
_NOTICES_SECONDS = 0.2
_open = 0


@dataclass(frozen=True)
class Middle:
    """The part of a page that changes: its template, and what that is given, by which name."""

    template: str
    name: str
    # Asked at every look. Where the database does not answer, the template is given nothing.
    find: Callable[[], Any]

    def html(self, found: Any) -> str:
        return render_to_string(self.template, {self.name: found})


def stream_or_refuse(events: AsyncIterator[str]) -> HttpResponseBase:
    if _open >= MOST_STREAMS:
        return HttpResponse("Too many look on already.", status=503, headers={"Retry-After": "30"})
    response = StreamingHttpResponse(events, content_type="text/event-stream")
    # Proxies that collect what they pass on would make it late.
    response.headers["X-Accel-Buffering"] = "no"
    return response


async def stream(viewer: Any, middle: Middle, *, every: float | None = None) -> AsyncIterator[str]:
    """Events named `overview` with the HTML of the page's middle; comments while it is the same."""
    global _open  # noqa: PLW0603 - the one count of this process
    loop, before = asyncio.get_running_loop(), ""
    ends_at = loop.time() + LASTS_SECONDS
    _open += 1
    try:
        yield f"retry: {_AGAIN_MS}\n\n"
        while loop.time() < ends_at and not is_stopping():
            found = await sync_to_async(_look)(viewer.pk, middle)
            if found is None:
                return
            yield event("overview", found) if found != before else ": nothing new\n\n"
            before = found
            await _rest(every if every is not None else _every_seconds())
    except asyncio.CancelledError:
        return  # the browser has left, or the server stops
    finally:
        _open -= 1


def event(name: str, data: str) -> str:
    lines = "".join(f"data: {line}\n" for line in data.splitlines())
    return f"event: {name}\n{lines}\n"


async def _rest(seconds: float) -> None:
    """Until the next look, or until the server stops."""
    until = asyncio.get_running_loop().time() + seconds
    while not is_stopping() and (left := until - asyncio.get_running_loop().time()) > 0:
        await asyncio.sleep(min(left, _NOTICES_SECONDS))


def _look(viewer: int, middle: Middle) -> str | None:
    """The page's middle; nothing for somebody who may not see it any more."""
    try:
        person = Person.objects.filter(pk=viewer, is_active=True).first()
        if person is None or not person.has_role(Role.OPERATOR):
            return None
        return middle.html(middle.find())
    except DatabaseError:
        return middle.html(None)
    finally:
        # Between two looks the connection is for somebody else.
        if not connection.in_atomic_block:
            connection.close()


def _every_seconds() -> float:
    return min(2.0, max(0.5, float(settings.HEARTBEAT_SECONDS)))
