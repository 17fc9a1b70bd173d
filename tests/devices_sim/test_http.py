"""The phones' HTTP: connections are kept, shared and left; what is not HTTP is no answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

import pytest

from aggregation.errors import Problem
from devices_sim.device import http
from devices_sim.device.http import Http, NoReply, Reply

FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nRetry-After: 7\r\n\r\nhi"


def against(
    answers: Iterable[bytes],
    act: Callable[[Http], Awaitable[Any]],
    *,
    close: bool = False,
    ahead: int = 1,
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
        url = f"http://127.0.0.1:{port}/portal/"
        async with server, Http(url, ahead=ahead) as client:
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
    asked = asyncio.Event()

    def answers() -> Iterator[bytes]:
        asked.set()
        yield b"HTTP/1.1 200 OK\r\n"
        yield FINE

    async def impatient(client: Http) -> Reply:
        slow = asyncio.ensure_future(client.ask("GET", "/slow"))
        await asked.wait()
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        return await client.ask("GET", "/a")

    reply, connections = against(answers(), impatient)
    assert (reply.body, connections) == (b"hi", 2)


def said(word: bytes, *lines: bytes) -> bytes:
    head = [b"HTTP/1.1 200 OK", *lines, b"Content-Length: %d" % len(word)]
    return b"\r\n".join(head) + b"\r\n\r\n" + word


async def at_once(client: Http) -> list[bytes]:
    await client.ask("GET", "/first")
    replies = await asyncio.gather(*(client.ask("GET", f"/{n}") for n in range(6)))
    assert {reply.up for reply in replies} == {len(_request(client))}
    return [reply.body for reply in replies]


def _request(client: Http) -> bytes:
    return f"GET /portal/0{client._head}\r\n\r\n".encode()


@pytest.mark.parametrize(("ahead", "connections"), [(1, 6), (3, 4), (6, 1)])
def test_answers_to_what_was_sent_ahead_come_to_whoever_asked(ahead: int, connections: int) -> None:
    # One in chunks, and one with an unusual header: another reader, the same order.
    chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n"
    answers = [said(b"a"), said(b"b", b"Keep-Alive:  5"), chunks, *map(said, (b"d", b"e", b"f"))]
    bodies, made = against([FINE, *answers], at_once, ahead=ahead)
    assert sorted(bodies) == [b"a", b"b", b"c", b"d", b"e", b"f"]
    assert made == connections
    if connections == 1:
        assert bodies == sorted(bodies)


def test_what_was_sent_ahead_to_a_server_that_says_good_bye_is_sent_again() -> None:
    bye = said(b"b", b"Connection: close")
    bodies, made = against([FINE, said(b"a"), bye, *([said(b"c")] * 20)], at_once, ahead=6)
    assert bodies[:2] == [b"a", b"b"]
    assert set(bodies[2:]) == {b"c"}
    assert made > 1


def test_one_who_leaves_does_not_take_the_others_along() -> None:
    async def impatient(client: Http) -> list[Any]:
        asked = [asyncio.ensure_future(client.ask("GET", f"/{n}")) for n in range(3)]
        await asyncio.sleep(0)
        asked[1].cancel()
        return await asyncio.gather(*asked, return_exceptions=True)

    async def leave(client: Http) -> list[Any]:
        await client.ask("GET", "/first")
        found = await impatient(client)
        await client.ask("GET", "/last")
        return found

    found, made = against([FINE, *map(said, (b"a", b"b", b"c", b"d"))], leave, ahead=6)
    assert (found[0].body, type(found[1]), found[2].body) == (b"a", asyncio.CancelledError, b"c")
    assert made == 2


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://127.0.0.1", "http://", ""])
def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(Problem, match="is not the address of a portal"):
        Http(url)
