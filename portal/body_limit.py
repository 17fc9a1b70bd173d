"""Refusing bodies that are too long, before they are read.

Django under ASGI writes the whole body to a temporary file before it looks at anything: without
this, whoever can reach the port could fill the disk, signed in or not.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
# What Django's middleware would say to browsers.
_PROTECTION = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


@dataclass(frozen=True)
class BodyLimit:
    """An ASGI application in front of another: bodies over `most` bytes are answered with 413."""

    application: Application
    most: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _declared(scope) > self.most:
            await self._refuse(scope, send)
            return
        await self.application(scope, self._counting(scope, receive, send), send)

    def _counting(self, scope: Scope, receive: Receive, send: Send) -> Receive:
        """For bodies that do not say how long they are: too much of one reads as a hang-up."""
        read = 0

        async def counting() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read <= self.most:
                return message
            await self._refuse(scope, send)
            return {"type": "http.disconnect"}

        return counting

    async def _refuse(self, scope: Scope, send: Send) -> None:
        sentence = f"The request is too long: this server reads at most {self.most:,} bytes."
        kind, body = "text/plain", sentence
        if scope["path"].startswith("/api/"):
            error = {"code": "too_long", "message": sentence, "hint": "Send less.", "fields": []}
            kind, body = "application/json", json.dumps({"error": error})
        headers = {"content-type": f"{kind}; charset=utf-8", "connection": "close", **_PROTECTION}
        await send(
            {
                "type": "http.response.start",
                "status": 413,
                "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
            }
        )
        await send({"type": "http.response.body", "body": body.encode()})


def _declared(scope: Scope) -> int:
    """What Content-Length says; 0 where it is absent or no number."""
    value = dict(scope["headers"]).get(b"content-length", b"")
    return int(value) if value.isdigit() else 0
