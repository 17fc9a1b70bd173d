"""The line to Valkey: all replies in their order, one time-out, a fresh start after any trouble."""

import asyncio
import secrets
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from portal.device_api.line import Line
from tests.portal.device_api.front_end import Valkey


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    made = Valkey(tmp_path_factory.mktemp("v"))
    made.start()
    yield made
    made.stop()


def talk(address: str, work: Callable[[Line], Awaitable[Any]], *, seconds: float = 30) -> Any:
    async def run() -> Any:
        line = Line(address, seconds=seconds)
        try:
            return await work(line)
        finally:
            await line.close()

    return asyncio.run(run())


def test_replies_come_in_the_order_of_the_commands(valkey: Valkey) -> None:
    name, large = secrets.token_hex(8), secrets.token_bytes(3_000_000)
    commands = [("SET", name, large), ("GET", name), ("LPOP", name), ("GET", "nobody"), ("PING",)]
    stored, read, wrong, none, pong = talk(valkey.url, lambda line: line.ask(commands))
    assert (stored, read, none, pong) == (b"OK", large, None, b"PONG")
    assert isinstance(wrong, redis.ResponseError)
    assert talk(valkey.url, lambda line: line.ask([])) == []


def test_one_exchange_after_another(valkey: Valkey) -> None:
    name = secrets.token_hex(8)

    async def count(line: Line) -> list[object]:
        return [(await line.ask([("INCR", name)]))[0] for _ in range(50)]

    assert talk(valkey.url, count) == list(range(1, 51))


def test_a_reply_that_is_late_belongs_to_nobody(valkey: Valkey) -> None:
    """The next exchange does not get it: it goes over another connection."""
    assert valkey.process is not None

    async def late(line: Line) -> list[object]:
        await line.ask([("PING",)])
        valkey.process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(TimeoutError):
                await line.ask([("ECHO", "late")])
        finally:
            valkey.process.send_signal(signal.SIGCONT)
        # However long it takes to wake up.
        for _ in range(100):
            try:
                return await line.ask([("ECHO", "next")])
            except (redis.RedisError, OSError):
                continue
        return []

    assert talk(valkey.url, late, seconds=0.3) == [b"next"]


def test_whoever_is_not_there_is_told_of(tmp_path: Path) -> None:
    with pytest.raises((redis.RedisError, OSError)):
        talk(f"unix://{tmp_path / 'nothing.sock'}", lambda line: line.ask([("PING",)]))


def test_words_that_are_no_reply_end_the_connection(tmp_path: Path) -> None:
    async def run() -> None:
        async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while await reader.read(4096):
                writer.write(b"?")
            writer.close()

        server = await asyncio.start_unix_server(babble, tmp_path / "b.sock")
        line = Line(f"unix://{tmp_path / 'b.sock'}", seconds=5)
        with pytest.raises((redis.RedisError, OSError)):
            await line.ask([("PING",)])
        await line.close()
        server.close()

    asyncio.run(run())
