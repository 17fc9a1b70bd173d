"""One connection to a server: requests go out as they come, answers come back in that order."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import cast

import httptools

from devices_sim.device.replies import MAX_ANSWER, Reply, plain_reply


class NoReply(Exception):
    """There is no server, it hung up, or what it said is not HTTP."""


class NotRead(NoReply):
    """The server closed the connection in good order before it read this request."""


class Connection(asyncio.Protocol):
    """Answers that are not plain are read by httptools, which calls the `on_` methods."""

    def __init__(self) -> None:
        self.is_open = True
        # For whoever keeps lists of connections.
        self.is_listed = False
        self._loop = asyncio.get_running_loop()
        # Who waits, the first one first, and the bytes of what they asked.
        self._waiting: deque[tuple[asyncio.Future[Reply], int]] = deque()
        self._unsent: list[bytes] = []
        # While it is amid an answer.
        self._parser: httptools.HttpResponseParser | None = None
        self._is_amid = False
        self._used = self._loop.time()

    def send(self, request: bytes) -> asyncio.Future[Reply]:
        answer: asyncio.Future[Reply] = self._loop.create_future()
        self._waiting.append((answer, len(request)))
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append(request)
        return answer

    def _flush(self) -> None:
        """All that was said in this turn of the loop: a message costs more than its bytes."""
        if not self._transport.is_closing():
            self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    @property
    def under_way(self) -> int:
        return len(self._waiting)

    @property
    def idle_seconds(self) -> float:
        """How long it has had nothing to do."""
        return 0.0 if self._waiting else self._loop.time() - self._used

    def leave(self) -> None:
        """Somebody does not want the answer any more; others may still wait for theirs."""
        self.is_open = False
        if all(answer.done() for answer, _ in self._waiting):
            self.close()

    def close(self) -> None:
        self.is_open = False
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        at = 0
        while self._parser is None and self._waiting and at < len(data):
            reply = plain_reply(data, at, up=self._waiting[0][1])
            if reply is None:
                break
            at += reply.down
            self._answer(reply)
        if at < len(data):
            self._read_the_rest(data[at:] if at else data)

    def _answer(self, reply: Reply) -> None:
        answer, _ = self._waiting.popleft()
        if not answer.done():
            answer.set_result(reply)
        if not self._waiting:
            self._used = self._loop.time()
            if not self.is_open:  # left by one, and no one waits any more
                self.close()

    def connection_lost(self, _error: Exception | None) -> None:
        self._fail(NoReply)

    def _fail(self, kind: type[NoReply]) -> None:
        self.close()
        while self._waiting:
            answer, _ = self._waiting.popleft()
            if not answer.done():
                answer.set_exception(kind())

    # Answers that are not plain

    def _read_the_rest(self, data: bytes) -> None:
        if self._parser is None:
            self._parser = httptools.HttpResponseParser(self)
            self._headers: dict[bytes, bytes] = {}
            self._body: list[bytes] = []
            self._down = 0
        self._down += len(data)
        if not self._waiting or self._down > MAX_ANSWER:
            self._fail(NoReply)
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._fail(NoReply)
        if not self._is_amid:
            self._parser = None

    def on_message_begin(self) -> None:
        self._is_amid = True

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        assert self._parser is not None  # noqa: S101 - it calls this
        self._is_amid = False
        if not self._waiting:
            return
        status, keeps = self._parser.get_status_code(), self._parser.should_keep_alive()
        body, up = b"".join(self._body), self._waiting[0][1]
        self._answer(Reply(status, self._headers, body, up, self._down))
        self._headers, self._body, self._down = {}, [], 0
        if not keeps:
            self._fail(NotRead)
