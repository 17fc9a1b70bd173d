"""A device that hangs up before its answer leaves nothing of its connection behind."""

import asyncio
import socket
import struct
from typing import Any

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
    slow, made = Slow(), list[DeviceProtocol]()
    config = Config(slow, proxy_headers=False, log_level="critical")
    config.load()
    state = ServerState()

    def protocol() -> DeviceProtocol:
        made.append(DeviceProtocol(config, state, {}))
        return made[-1]

    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, "127.0.0.1", 0)
    async with server:
        device = socket.create_connection(server.sockets[0].getsockname())
        device.sendall(UPLOAD + UPLOAD)
        await asyncio.to_thread(eventually, lambda: len(slow.owed) == 2)
        device.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        device.close()
        await asyncio.to_thread(eventually, lambda: not state.connections)
        (ours,) = made
        for say, to in slow.owed:
            say(to, 202, b"content-length: 0\r\n", b"")
        assert ours.timeout_keep_alive_task is None
        assert ours._timer is None
        assert not ours._turns
        assert not ours._rest
