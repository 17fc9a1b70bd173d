"""The server's protocol in a hurry, and an application that says how much of a body it has read.

Whoever asks for /last is answered once somebody asks for /first, and whoever asks for /long with
more than any system keeps for somebody who does not read.
"""

import asyncio
from typing import Any

from portal.device_api.protocol import DeviceProtocol


class Impatient(DeviceProtocol):
    arrival_seconds = 0.4


_LONG = 20_000_000
_first = asyncio.Event()


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    read, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        read, more = read + len(message["body"]), message["more_body"]
    if scope["path"] == "/last":
        await _first.wait()
    elif scope["path"] == "/first":
        _first.set()
    body = bytes(_LONG) if scope["path"] == "/long" else b"%d" % read
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
