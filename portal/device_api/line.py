"""A line to Valkey of our own: several commands there, all replies back, in one go.

The usual client makes the connection, with everything an address can ask for. Then the line reads
the replies itself, with one time-out for the whole exchange: with a pipeline of the client's, each
exchange would cost ten times as much.
"""

import asyncio
from collections.abc import Iterable
from typing import Any, cast

import hiredis
import redis
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection

Command = tuple[Any, ...]

_MORE = object()


class Line:
    """For one user at a time. Whatever goes wrong, the next exchange begins afresh."""

    def __init__(self, address: str, *, seconds: float) -> None:
        self._client = Redis.from_url(address, socket_connect_timeout=seconds)
        self._seconds = seconds
        self._connection: AbstractConnection | None = None
        self._replies: _Replies | None = None

    async def ask(self, commands: Iterable[Command]) -> list[object]:
        """The reply to each; an error reply is one of them. Raises RedisError, OSError.

        There is no second try: what was sent may have been done.
        """
        packed = [hiredis.pack_command(each) for each in commands]
        if not packed:
            return []
        try:
            return await (await self._connected()).to(packed, within=self._seconds)
        except BaseException:
            await self._hang_up()
            raise

    async def close(self) -> None:
        await self._hang_up()
        await self._client.aclose()

    async def _connected(self) -> "_Replies":
        """The connection, or a new one if the other side has hung up meanwhile."""
        if self._replies is not None and not self._replies.is_lost:
            return self._replies
        await self._hang_up()
        async with asyncio.timeout(self._seconds):
            self._connection = await self._client.connection_pool.get_connection()
        transport = cast(Any, self._connection)._writer.transport
        self._replies = _Replies(transport)
        transport.set_protocol(self._replies)
        return self._replies

    async def _hang_up(self) -> None:
        connection, self._connection, self._replies = self._connection, None, None
        if connection is not None:
            await connection.disconnect(nowait=True)
            await self._client.connection_pool.release(connection)


class _Replies(asyncio.Protocol):
    """One exchange at a time over a connection that is made."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(replyError=redis.ResponseError, notEnoughData=_MORE)
        self._found: list[object] = []
        self._expected = 0
        self._done: asyncio.Future[list[object]] | None = None
        # The other side is gone, or says what nobody asked: nothing more can be asked of it.
        self.is_lost = False

    async def to(self, packed: list[bytes], *, within: float) -> list[object]:
        self._found, self._expected = [], len(packed)
        self._done = done = self._loop.create_future()
        late = self._loop.call_later(within, self._fail, TimeoutError("Valkey did not answer."))
        try:
            self._transport.write(packed[0] if len(packed) == 1 else b"".join(packed))
            return await done
        finally:
            late.cancel()
            self._done = None

    def data_received(self, data: bytes) -> None:
        try:
            self._reader.feed(data)
            while (reply := self._reader.gets()) is not _MORE:
                self._found.append(reply)
        except hiredis.ProtocolError:
            self._fail(redis.ConnectionError("What came is no reply."))
            return
        if self._done is None or len(self._found) > self._expected:
            self._fail(redis.ConnectionError("There were more replies than questions."))
        elif len(self._found) == self._expected and not self._done.done():
            self._done.set_result(self._found)

    def connection_lost(self, error: Exception | None) -> None:
        self._fail(error or redis.ConnectionError("Valkey has hung up."))

    def _fail(self, error: Exception) -> None:
        self.is_lost = True
        if self._done is not None and not self._done.done():
            self._done.set_exception(error)
