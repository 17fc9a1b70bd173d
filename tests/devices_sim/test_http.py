"""The phones' HTTP: connections are kept, shared and left; what is not HTTP is no answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aggregation.errors import Problem
from devices_sim.device import http
from devices_sim.device.http import Http, NoReply, Reply

FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nRetry-After: 7\r\n\r\nhi"


def against(
    answers: list[bytes], act: Callable[[Http], Awaitable[Any]], *, close: bool = False
) -> tuple[Any, int]:
    """What `act` gives against a server with these answers, and how many connections it made."""
    left, connections = iter(answers), 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(next(left))
            await writer.drain()
            if close:
                break
        writer.close()

    async def quietly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> Any:
        server = await asyncio.start_server(quietly, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, Http(f"http://127.0.0.1:{port}/portal/") as client:
            return await act(client)

    return asyncio.run(run()), connections


async def twice(client: Http) -> list[Reply]:
    return [await client.ask("GET", "/a") for _ in range(2)]


def test_a_connection_is_used_again() -> None:
    replies, connections = against([FINE, FINE], twice)
    assert [(r.status, r.body, r.headers[b"retry-after"]) for r in replies] == [
        (200, b"hi", b"7")
    ] * 2
    assert replies[0].down == len(FINE)
    assert connections == 1


def test_one_that_the_server_closes_is_not() -> None:
    closing = FINE.replace(b"Retry-After: 7", b"Connection: close")
    _, connections = against([closing, closing], twice, close=True)
    assert connections == 2


def test_one_that_rested_too_long_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_IDLE_SECONDS", 0.0)
    _, connections = against([FINE, FINE], twice)
    assert connections == 2


def test_chunks_are_one_body() -> None:
    chunks = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3\r\n ho\r\n0\r\n\r\n"
    )
    reply, _ = against([chunks], lambda client: client.ask("GET", "/a"))
    assert reply.body == b"hi ho"


@pytest.mark.parametrize(
    "answer", [b"", b"no HTTP\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9"]
)
def test_what_breaks_off_or_is_no_http_is_no_reply(answer: bytes) -> None:
    with pytest.raises(NoReply):
        against([answer], lambda client: client.ask("GET", "/a"), close=True)


def test_who_is_cancelled_leaves_no_half_read_connection() -> None:
    async def impatient(client: Http) -> Reply:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await client.ask("GET", "/slow")
        return await client.ask("GET", "/a")

    reply, connections = against([b"HTTP/1.1 200 OK\r\n", FINE], impatient)
    assert (reply.body, connections) == (b"hi", 2)


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://127.0.0.1", "http://", ""])
def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(Problem, match="is not the address of a portal"):
        Http(url)
