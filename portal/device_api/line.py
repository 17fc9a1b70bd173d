"""A line to Valkey of our own: several commands there, all replies back, in one go.

It is a connection of the usual client's, without its pool and with one time-out for the whole
exchange: with a pipeline of the client's, each exchange would cost five times as much.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

import hiredis
import redis
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection

Command = tuple[Any, ...]


class Line:
    """For one user at a time. Whatever goes wrong, the next exchange begins afresh."""

    def __init__(self, address: str, *, seconds: float) -> None:
        # The client's own time-outs would make a task for each exchange.
        self._client = Redis.from_url(address, socket_connect_timeout=seconds, socket_timeout=None)
        self._seconds = seconds
        self._connection: AbstractConnection | None = None

    async def ask(self, commands: Iterable[Command]) -> list[object]:
        """The reply to each; an error reply is one of them. Raises RedisError, OSError.

        There is no second try: what was sent may have been done.
        """
        try:
            async with asyncio.timeout(self._seconds):
                return await self._exchange([hiredis.pack_command(each) for each in commands])
        except BaseException:
            await self._hang_up()
            raise

    async def close(self) -> None:
        await self._hang_up()
        await self._client.aclose()

    async def _exchange(self, packed: list[bytes]) -> list[object]:
        connection = await self._connected()
        await connection.send_packed_command(packed, check_health=False)
        replies: list[object] = []
        for _ in packed:
            try:
                replies.append(await connection.read_response())
            except redis.ResponseError as error:
                replies.append(error)
        return replies

    async def _connected(self) -> AbstractConnection:
        """The connection, or a new one if the other side has hung up meanwhile."""
        if self._connection is not None and await self._connection.can_read():
            await self._hang_up()
        if self._connection is None:
            self._connection = await self._client.connection_pool.get_connection()
        return self._connection

    async def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)
            await self._client.connection_pool.release(connection)
