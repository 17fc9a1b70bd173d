"""HTTP/1.1 as phones speak it: requests with a length, answers with an end, connections kept.

Phones of one process may share it and its connections, and then may send ahead on them: before the
answer to the last request has come. No cookies, no redirects, no compression, no header that tells
one phone from another. An answer longer than any of this protocol is left unread. There are no time
limits here: a wake-up has one for all it does.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Final, Self
from urllib.parse import urlsplit

from aggregation.errors import Problem
from devices_sim.device.connection import Connection, NoReply, NotRead
from devices_sim.device.replies import Reply

__all__ = ["Http", "NoReply", "Reply"]

# A connection that was not used for so long may be closed at any moment: servers wait a little
# longer than this.
_IDLE_SECONDS: Final = 2.0


class Http:
    """One server. Used as `async with Http(url) as http`, it closes its connections."""

    def __init__(self, base_url: str, *, ahead: int = 1) -> None:
        """`ahead` is how many requests may be under way on one connection."""
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Problem(
                f"{base_url!r} is not the address of a portal.",
                hint="Give one such as http://127.0.0.1:8000.",
            )
        self._place = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        self._ssl = ssl.create_default_context() if parts.scheme == "https" else None
        self._path = parts.path.rstrip("/")
        self._head = f" HTTP/1.1\r\nHost: {parts.netloc.rpartition('@')[2]}\r\nUser-Agent: mayfly"
        self._ahead = ahead
        # Those with room. The one used last is used next, so that the others can grow old.
        self._free: list[Connection] = []

    async def ask(self, method: str, path: str, body: bytes = b"", headers: str = "") -> Reply:
        """One request and its answer; `headers` are further lines, each with a line end before."""
        length = f"\r\nContent-Length: {len(body)}" if body else ""
        head = f"{method} {self._path}{path}{self._head}{headers}{length}\r\n\r\n"
        request = head.encode() + body
        while True:
            connection = self._with_room() or await self._connected()
            try:
                return await self._asked(connection, request)
            except NotRead:
                pass  # it was sent ahead to a server that said good-bye before it

    async def _asked(self, connection: Connection, request: bytes) -> Reply:
        answer = connection.send(request)
        self._list(connection)
        try:
            return await answer
        except asyncio.CancelledError:
            connection.leave()
            raise
        finally:
            self._list(connection)

    def _list(self, connection: Connection) -> None:
        """Among those with room, if it has any."""
        has_room = connection.is_open and connection.under_way < self._ahead
        if has_room and not connection.is_listed:
            connection.is_listed = True
            self._free.append(connection)

    def _with_room(self) -> Connection | None:
        while self._free:
            connection = self._free.pop()
            connection.is_listed = False
            if connection.is_open and connection.idle_seconds < _IDLE_SECONDS:
                return connection
            if not connection.under_way:
                connection.close()
        return None

    async def _connected(self) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            _, connection = await loop.create_connection(Connection, *self._place, ssl=self._ssl)
        except OSError:
            raise NoReply from None
        return connection

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._free:
            self._free.pop().close()
