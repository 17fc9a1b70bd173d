"""Which call a path and a method name."""

from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import NamedTuple

from aggregation.protocol.messages import Code
from portal.device_api.answers import Answer, Later, Refusal
from portal.device_api.calls.active import active, active_at_once
from portal.device_api.calls.assignments import assignments, assignments_at_once
from portal.device_api.calls.check_in import check_in, check_in_at_once
from portal.device_api.calls.client_task import client_task, client_task_at_once
from portal.device_api.calls.status import status, status_at_once
from portal.device_api.calls.upload import upload, upload_at_once

PREFIX = "/device/v1/"
# Longer than any path of ours.
_LONGEST = 200


class Call(NamedTuple):
    name: str
    # Takes the parts, the request and the variable names in the path, as they were sent.
    do: Callable[..., Awaitable[Answer]]
    methods: tuple[str, ...]
    # The same for a request that is whole, without waiting: takes the parts, the request, its
    # body, whom to tell later, and the names. Gives the answer, or says that it comes later; or
    # nothing, if it takes more than that. Then, and if it raises, nothing has happened.
    at_once: Callable[..., Answer | Later | None]


class Route(NamedTuple):
    call: Call
    names: tuple[str, ...] = ()


_POST, _GET = ("POST",), ("GET", "HEAD")
_UPLOAD = Call("upload", upload, _POST, upload_at_once)
_STATUS = Call("status", status, _GET, status_at_once)
_CLIENT_TASK = Call("client-task", client_task, _GET, client_task_at_once)
_WORDS = {
    "active": Route(Call("active", active, _POST, active_at_once)),
    "check-in": Route(Call("check-in", check_in, _POST, check_in_at_once)),
    "assignments": Route(Call("assignments", assignments, _POST, assignments_at_once)),
}


@lru_cache(maxsize=1024)
def route(method: str, path: str) -> Route:
    """The call, or a refusal: 404 for a path that is none of ours, 405 for a wrong method.

    Kept for the paths of a moment, of which those of uploads come again and again.
    """
    found = _by_path(path.removeprefix(PREFIX).split("/")) if len(path) <= _LONGEST else None
    if found is None:
        hint = "The calls are described at /docs/device-protocol."
        raise Refusal(404, Code.NOT_FOUND, "The device protocol has no such call.", hint)
    if method not in found.call.methods:
        allowed = ", ".join(found.call.methods)
        message = f"This call takes {found.call.methods[0]}."
        allow = ((b"allow", allowed.encode()),)
        raise Refusal(405, Code.METHOD_NOT_ALLOWED, message, headers=allow)
    return found


def _by_path(parts: list[str]) -> Route | None:
    match parts:
        case ["sessions", session, "updates"]:
            return Route(_UPLOAD, (session,))
        case ["sessions", session, "updates", update]:
            return Route(_STATUS, (session, update))
        case ["client-tasks", sha256]:
            return Route(_CLIENT_TASK, (sha256,))
        case [word]:
            return _WORDS.get(word)
    return None
