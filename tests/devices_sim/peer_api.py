"""Ways to the peer: by calls, or over real HTTP. Both can lose requests and answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from threading import Thread
from typing import Any

from aiohttp import web

from aggregation.errors import Problem
from aggregation.protocol import messages
from devices_sim.device import once_only
from devices_sim.device.api_client import (
    _UPLOADED,
    Busy,
    HttpApi,
    Meter,
    NotReached,
    _fared,
    connected,
)
from tests.devices_sim.peer import Peer

Fault = Callable[[int, str], str]
"""Number and name of a call → "" (none), "request" (lost on its way), "answer", or "busy"."""


class DirectApi:
    """The peer without HTTP, for tests of many thousand steps."""

    def __init__(self, peer: Peer, fault: Fault = lambda number, name: "") -> None:
        self.peer, self.fault, self.number = peer, fault, 0

    def _call(self, name: str, act: Callable[[], Any]) -> Any:
        self.number += 1
        self.peer.calls.append(name)
        fault = self.fault(self.number, name)
        if fault == "request":
            raise NotReached
        if fault == "busy":
            raise Busy(30.0)
        answer = act()
        if fault == "answer":
            raise NotReached
        return answer

    async def active(self, message: messages.Active, meter: Meter) -> None:
        def count() -> None:
            self.peer.active += 1

        self._call("active", count)

    async def check_in(self, message: messages.CheckIn, meter: Meter) -> messages.Offers:
        offers: messages.Offers = self._call("check_in", self.peer.check_in)
        return offers

    async def assignments(
        self, message: messages.AssignmentRequest, meter: Meter
    ) -> messages.Assignments:
        found: messages.Assignments = self._call("assignments", lambda: self.peer.assign(message))
        return found

    async def client_task(self, sha256: str, meter: Meter) -> bytes:
        body = self._call("client_task", lambda: self.peer.client_task(sha256))
        if body is None:
            raise NotReached
        return bytes(body)

    async def upload(
        self, *, session: str, update: str, token: str, sealed: bytes, meter: Meter
    ) -> once_only.Answer:
        status = self._call("upload", lambda: self.peer.upload(session, update, token, sealed))
        return _UPLOADED[status]

    async def status(self, *, session: str, update: str, meter: Meter) -> once_only.Answer:
        found = self._call("status", lambda: self.peer.status(session, update))
        if isinstance(found, messages.SessionOver):
            self.peer.told_over.add(update)
        return _fared(messages.write(found)) if found else once_only.UnknownSession()


@asynccontextmanager
async def served(peer: Peer, fault: Fault = lambda number, name: "") -> AsyncIterator[HttpApi]:
    """The peer behind real HTTP, and a phone's client for it."""
    runner = web.AppRunner(_app(peer, fault), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    async with connected(f"http://127.0.0.1:{port}") as api:
        yield api
    await runner.cleanup()


@contextmanager
def served_apart(peer: Peer, fault: Fault = lambda number, name: "") -> Iterator[str]:
    """The peer behind real HTTP in a thread of its own; gives its address."""
    ready: Future[tuple[str, asyncio.Event, asyncio.AbstractEventLoop]] = Future()

    async def serve() -> None:
        runner = web.AppRunner(_app(peer, fault), access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        stop = asyncio.Event()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        ready.set_result((url, stop, asyncio.get_running_loop()))
        await stop.wait()
        await runner.cleanup()

    thread = Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    url, stop, loop = ready.result(10)
    yield url
    loop.call_soon_threadsafe(stop.set)
    thread.join(10)


def _app(peer: Peer, fault: Fault) -> web.Application:
    numbers = iter(range(1, 1 << 30))

    @web.middleware
    async def faulty(request: web.Request, handler: Any) -> web.StreamResponse:
        name = request.match_info.route.name or ""
        peer.calls.append(name)
        chosen = fault(next(numbers), name)
        if chosen == "busy":
            return web.Response(status=503, headers={"Retry-After": "30"})
        if chosen != "request":
            answer: web.StreamResponse = await handler(request)
            if not chosen:
                return answer
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    app = web.Application(middlewares=[faulty])
    routes = _Routes(peer)
    app.add_routes(
        [
            web.get("/api/v1/device-keys", routes.device_keys, name="device_keys"),
            web.post("/device/v1/active", routes.active, name="active"),
            web.post("/device/v1/check-in", routes.check_in, name="check_in"),
            web.post("/device/v1/assignments", routes.assignments, name="assignments"),
            web.get("/device/v1/client-tasks/{sha256}", routes.client_task, name="client_task"),
            web.post("/device/v1/sessions/{session}/updates", routes.upload, name="upload"),
            web.get("/device/v1/sessions/{session}/updates/{update}", routes.status, name="status"),
        ]
    )
    return app


class _Routes:
    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    async def device_keys(self, request: web.Request) -> web.Response:
        pins = self.peer.pins
        return web.json_response({"approval": pins.approval.hex(), "worker": pins.worker.hex()})

    async def active(self, request: web.Request) -> web.Response:
        _request(messages.Active, await request.read())
        self.peer.active += 1
        return web.Response(status=204)

    async def check_in(self, request: web.Request) -> web.Response:
        _request(messages.CheckIn, await request.read())
        return _json(self.peer.check_in())

    async def assignments(self, request: web.Request) -> web.Response:
        return _json(self.peer.assign(_request(messages.AssignmentRequest, await request.read())))

    async def client_task(self, request: web.Request) -> web.Response:
        body = self.peer.client_task(request.match_info["sha256"])
        if body is None:
            return web.Response(status=404)
        return web.Response(body=body, content_type="application/json")

    async def upload(self, request: web.Request) -> web.Response:
        assert request.content_length is not None
        status = self.peer.upload(
            request.match_info["session"],
            request.headers["Mayfly-Update"],
            request.headers["Mayfly-Token"],
            await request.read(),
        )
        return web.Response(status=status)

    async def status(self, request: web.Request) -> web.Response:
        found = self.peer.status(request.match_info["session"], request.match_info["update"])
        return _json(found) if found else web.Response(status=404)


def _request(kind: Any, body: bytes) -> Any:
    try:
        return messages.read_request(kind, body)
    except Problem as problem:
        raise web.HTTPBadRequest(text=str(problem)) from None


def _json(message: Any) -> web.Response:
    return web.Response(body=messages.write(message), content_type="application/json")
