"""The floor of every front end: an ASGI application that does nothing but answer."""

from typing import Any

_START = {"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]}
_BODY = {"type": "http.response.body", "body": b""}


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await send(_START)
        await send(_BODY)
