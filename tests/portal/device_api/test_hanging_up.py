"""A device that hangs up before its answer leaves nothing of its connection behind."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvloop
from uvicorn.config import Config
from uvicorn.server import ServerState

from portal.device_api.protocol import DeviceProtocol
from tests.parts import eventually
from tests.portal.device_api.raw_http import request

UPLOAD = request("POST", f"/device/v1/sessions/{'ab' * 16}/updates", b"sealed")
# Closing with this option resets the connection.
AT_ONCE = struct.pack("ii", 1, 0)


class Slow:
    """Takes every request, and answers when it is told to."""

    def __init__(self) -> None:
        self.owed: list[tuple[Any, Any]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("Nothing goes the usual way here.")

    def take(self, scope: Any, body: bytes, say: Any, to: Any) -> bool:
        self.owed.append((say, to))
        return True


def test_a_reset_leaves_no_timer_and_no_turn() -> None:
    asyncio.run(_reset_while_an_answer_is_owed())


async def _reset_while_an_answer_is_owed() -> None:
    slow = Slow()
    async with connected(slow, DeviceProtocol) as (device, ours):
        device.sendall(UPLOAD + UPLOAD)
        await until(lambda: len(slow.owed) == 2)
        device.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        device.close()
        await until(lambda: not ours.connections)
        for say, to in slow.owed:
            say(to, 202, b"content-length: 0\r\n", b"")
        assert ours.timeout_keep_alive_task is None
        assert ours._timer is None
        assert not ours._turns
        assert not ours._rest


class Hurried(DeviceProtocol):
    arrival_seconds = 0.3


async def long(scope: Any, receive: Any, send: Any) -> None:
    """Less than what makes the server wait before it writes more; nothing at /never."""
    await receive()
    if scope["path"] == "/never":
        await receive()
        return
    headers = [(b"content-length", b"60000")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": bytes(60_000)})


GET = request("GET", "/", b"")
NO_REQUEST = request("GET", "/never", b"") + b"no request\r\n\r\n"
LAST = request("GET", "/", b"", ("Connection", "close"))
# What it asks, and what it does once the answer waits.
ENDS: dict[str, tuple[bytes, Callable[[socket.socket], object]]] = {
    "asked for": (LAST, lambda device: None),
    "at rest": (GET, lambda device: None),
    "half closed": (GET, lambda device: device.shutdown(socket.SHUT_WR)),
    "no request": (GET, lambda device: device.sendall(NO_REQUEST)),
    "half a request": (GET, lambda device: device.sendall(b"GET /")),
}


@pytest.mark.parametrize("end", ENDS)
def test_what_nobody_reads_keeps_no_connection_that_has_ended(end: str) -> None:
    uvloop.run(_ended_with_an_answer_unread(*ENDS[end]))


async def _ended_with_an_answer_unread(
    asked: bytes, end: Callable[[socket.socket], object]
) -> None:
    async with connected(long, Hurried) as (device, ours):
        device.sendall(asked)
        await until(lambda: ours.transport.get_write_buffer_size() > 0)
        end(device)
        await until(lambda: not ours.connections)


def test_one_that_reads_is_not_given_up() -> None:
    uvloop.run(_read_after_a_while())


async def _read_after_a_while() -> None:
    async with connected(long, DeviceProtocol) as (device, ours):
        device.sendall(GET + GET)
        await until(lambda: ours._unread is not None)
        await asyncio.to_thread(device.recv, 120_000, socket.MSG_WAITALL)
        await until(lambda: ours._unread is None)
        assert ours.connections


async def until(condition: Callable[[], bool]) -> None:
    await asyncio.to_thread(eventually, condition, within=15)


@asynccontextmanager
async def connected(
    application: Any, kind: type[DeviceProtocol]
) -> AsyncIterator[tuple[socket.socket, DeviceProtocol]]:
    """A device, and the server's end of its connection; the system keeps little between them."""
    config = Config(application, proxy_headers=False, log_level="critical", timeout_keep_alive=1)
    config.load()
    state, made = ServerState(), list[DeviceProtocol]()

    def protocol() -> DeviceProtocol:
        made.append(kind(config, state, {}))
        return made[-1]

    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    with socket.socket() as device:
        device.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        async with await asyncio.get_running_loop().create_server(protocol, sock=listening):
            device.connect(listening.getsockname())
            await until(lambda: bool(state.connections))
            yield device, made[0]
