"""HTTP/1.1 as phones speak it: requests with a length, answers with an end, connections kept.

Phones of one process may share it and its connections. No cookies, no redirects, no compression,
no header that tells one phone from another. An answer longer than any of this protocol is left
unread. There are no time limits here: a wake-up has one for all it does.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Final, NamedTuple, Self, cast
from urllib.parse import urlsplit

import httptools

from aggregation.errors import Problem

# Bytes of an answer, its head included.
MAX_ANSWER: Final = 1 << 20
# A connection that was not used for so long may be closed at any moment: servers wait a little
# longer than this.
_IDLE_SECONDS: Final = 2.0


class NoReply(Exception):
    """There is no server, it hung up, or what it said is not HTTP."""


class Reply(NamedTuple):
    status: int
    # Names in lower case.
    headers: dict[bytes, bytes]
    body: bytes
    # Bytes both ways: first lines, headers and bodies.
    up: int
    down: int


class Http:
    """One server. Used as `async with Http(url) as http`, it closes its connections."""

    def __init__(self, base_url: str) -> None:
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
        # The one used last is used next, so that the others can grow old.
        self._idle: list[_Connection] = []

    async def ask(self, method: str, path: str, body: bytes = b"", headers: str = "") -> Reply:
        """One request and its answer; `headers` are further lines, each with a line end before."""
        length = f"\r\nContent-Length: {len(body)}" if body else ""
        head = f"{method} {self._path}{path}{self._head}{headers}{length}\r\n\r\n"
        connection = self._waiting() or await self._connected()
        try:
            reply = await connection.ask(head.encode() + body)
        except BaseException:
            connection.close()
            raise
        if connection.is_open:
            self._idle.append(connection)
        return reply

    def _waiting(self) -> _Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and connection.idle_seconds < _IDLE_SECONDS:
                return connection
            connection.close()
        return None

    async def _connected(self) -> _Connection:
        loop = asyncio.get_running_loop()
        try:
            _, connection = await loop.create_connection(_Connection, *self._place, ssl=self._ssl)
        except OSError:
            raise NoReply from None
        return connection

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._idle:
            self._idle.pop().close()


class _Connection(asyncio.Protocol):
    """One request at a time; httptools calls the methods that begin with `on_`."""

    def __init__(self) -> None:
        self.is_open = True
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._answer: asyncio.Future[Reply] | None = None
        self._used = self._loop.time()

    async def ask(self, request: bytes) -> Reply:
        self._headers: dict[bytes, bytes] = {}
        self._body: list[bytes] = []
        self._up, self._down = len(request), 0
        self._answer = self._loop.create_future()
        self._transport.write(request)
        return await self._answer

    @property
    def idle_seconds(self) -> float:
        return self._loop.time() - self._used

    def close(self) -> None:
        self.is_open = False
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._down += len(data)
        if self._answer is None or self._down > MAX_ANSWER:
            self._fail()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._fail()

    def connection_lost(self, _error: Exception | None) -> None:
        self._fail()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        status, body = self._parser.get_status_code(), b"".join(self._body)
        answer, self._answer, self._used = self._answer, None, self._loop.time()
        if not self._parser.should_keep_alive():
            self.close()
        if answer is not None and not answer.done():
            answer.set_result(Reply(status, self._headers, body, self._up, self._down))

    def _fail(self) -> None:
        answer, self._answer = self._answer, None
        self.close()
        if answer is not None and not answer.done():
            answer.set_exception(NoReply())
