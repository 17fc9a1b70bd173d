"""An honest server for phones to talk to: all six calls of the protocol, in memory.

It is a peer, not our server: it keeps what it was sent, so that tests can see what left a phone.
`DirectApi` reaches it by calls, `served` over real HTTP; both can lose requests and answers.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from threading import Thread
from typing import Any

from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aggregation.clock import Clock
from aggregation.errors import Problem
from aggregation.protocol import messages
from aggregation.protocol.approval import Approval, approval_of, key_id, sign
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.part import Part
from aggregation.protocol.sealing import SessionKeys
from aggregation.protocol.session_key import sign_session_key
from aggregation.protocol.tokens import is_token, token
from aggregation.protocol.update import Shape, unpack
from aggregation.protocol.windows import Window
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
from devices_sim.device.verification import Pins


@dataclass
class Revision:
    """An approved task, as the peer runs it."""

    task: str
    client_task: ClientTask
    approval: Approval
    signature: bytes
    grace: timedelta
    # What the server says of it at check-in, where a test makes that differ.
    offer: dict[str, Any] = field(default_factory=dict)
    assigned: dict[str, Any] = field(default_factory=dict)
    body: bytes = b""

    def __post_init__(self) -> None:
        self.sha256 = self.client_task.sha256
        self.body = self.body or self.client_task.canonical()

    def windows(self, now: datetime) -> tuple[str, ...]:
        """Ended, begun after the approval, grace not over."""
        window = Window.containing(now, self.client_task.window_unit).previous()
        found: list[str] = []
        while window.end + self.grace > now and window.start >= self.approval.moment:
            found.append(window.id)
            window = window.previous()
        return tuple(reversed(found))


@dataclass
class Session:
    id: str
    revision: Revision
    keys: SessionKeys
    queue: list[tuple[str, bytes]] = field(default_factory=list)
    over: bool = False
    receipts: dict[str, set[str]] = field(default_factory=dict)


class Peer:
    def __init__(self, clock: Clock, *, seed: int = 1) -> None:
        self.clock = clock
        self.rng = Random(seed)
        self.approval_key = Ed25519PrivateKey.from_private_bytes(self.rng.randbytes(32))
        self.worker_key = Ed25519PrivateKey.from_private_bytes(self.rng.randbytes(32))
        self.token_key = self.rng.randbytes(32)
        self.revisions: list[Revision] = []
        self.sessions: dict[str, Session] = {}
        # Window → the parts that were counted, per task.
        self.counted: dict[tuple[str, str], list[Part]] = {}
        self.calls: list[str] = []
        self.hint = (0, 0)
        self.active = 0
        # Update ids handed out, and those that arrived, in order.
        self.arrived: list[tuple[str, str, bytes]] = []
        # Updates whose phones were told that their session is over.
        self.told_over: set[str] = set()
        self.turns_away = False

    @property
    def pins(self) -> Pins:
        return Pins(
            self.approval_key.public_key().public_bytes_raw(),
            self.worker_key.public_key().public_bytes_raw(),
        )

    def add(
        self, task: str, client_task: ClientTask, *, approved_at: datetime, grace_hours: int = 168
    ) -> Revision:
        approval = approval_of(
            spec="0" * 64,
            client_task=client_task.sha256,
            server_config="1" * 64,
            author="a" * 32,
            approver="b" * 32,
            approved_at=approved_at,
        )
        signature = sign(approval, self.approval_key)
        revision = Revision(task, client_task, approval, signature, timedelta(hours=grace_hours))
        self.revisions.append(revision)
        return revision

    # The six calls

    def check_in(self) -> messages.Offers:
        now = self.clock.now()
        offers = []
        for revision in self.revisions:
            task = revision.client_task
            said = {
                "task": revision.task,
                "client_task": revision.sha256,
                "window_unit": task.window_unit,
                "windows": revision.windows(now),
                "eligibility": task.eligibility,
                "schedule": task.schedule,
            } | revision.offer
            if said["windows"]:
                offers.append(messages.Offer(**said))
        hint = messages.NextCheckIn(min_seconds=self.hint[0], max_seconds=self.hint[1])
        return messages.Offers(tasks=tuple(offers), next_check_in=hint)

    def assign(self, request: messages.AssignmentRequest) -> messages.Assignments:
        asked: Counter[messages.Wanted] = Counter()
        given = []
        for wanted in request.tasks:
            given.append(self._assigned(wanted, asked[wanted]))
            asked[wanted] += 1
        return messages.Assignments(assignments=tuple(given))

    def _assigned(
        self, wanted: messages.Wanted, nth: int
    ) -> messages.Assigned | messages.TurnedAway:
        same = [r for r in self.revisions if r.sha256 == wanted.client_task]
        revision = same[nth % len(same)] if same else None
        if revision is None or self.turns_away:
            return messages.TurnedAway(
                task=wanted.task, client_task=wanted.client_task, reason="Full.", retry_seconds=60
            )
        session = self.session_for(revision)
        update = self.rng.randbytes(8).hex()
        said = {
            "task": wanted.task,
            "client_task": revision.sha256,
            "address": f"/device/v1/client-tasks/{revision.sha256}",
            "approval": revision.approval,
            "signature": revision.signature.hex(),
            "key_id": key_id(self.approval_key.public_key()),
            "session": session.id,
            "public_key": session.keys.public.hex(),
            "session_signature": sign_session_key(
                self.worker_key,
                session=session.id,
                client_task=revision.sha256,
                public=session.keys.public,
            ).hex(),
            "update": update,
            "token": token(self.token_key, session=session.id, update=update),
            "windows": revision.windows(self.clock.now()),
        } | revision.assigned
        return messages.Assigned(**said)

    def session_for(self, revision: Revision) -> Session:
        for session in self.sessions.values():
            if session.revision is revision and not session.over:
                return session
        session = Session(self.rng.randbytes(16).hex(), revision, SessionKeys.fresh())
        self.sessions[session.id] = session
        return session

    def client_task(self, sha256: str) -> bytes | None:
        return next((r.body for r in self.revisions if r.sha256 == sha256), None)

    def upload(self, session_id: str, update: str, given: str, sealed: bytes) -> int:
        if not is_token(self.token_key, given, session=session_id, update=update):
            return 422
        session = self.sessions.get(session_id)
        if session is None or session.over:
            return 410
        session.queue.append((update, sealed))
        self.arrived.append((session_id, update, sealed))
        return 202

    def status(self, session_id: str, update: str) -> messages.Status | None:
        session = self.sessions.get(session_id)
        if session is None:
            return None
        if not session.over:
            return messages.SessionOpen()
        counted = sorted(w for w, ids in session.receipts.items() if update in ids)
        return messages.SessionOver(counted=tuple(counted))

    # What happens to sessions

    def flush(self, session: Session, *, only: Callable[[str], bool] = lambda _: True) -> None:
        """Count each id once, in the windows still open, and end."""
        shape = Shape.of(session.revision.client_task)
        open_windows = set(session.revision.windows(self.clock.now()))
        for update, sealed in dict(reversed(session.queue)).items():
            plain = session.keys.open(
                sealed, client_task=session.revision.sha256, session=session.id, update=update
            )
            windows, parts = unpack(plain, shape)
            for window, part in zip(windows, parts, strict=True):
                if window.id in open_windows and only(window.id):
                    session.receipts.setdefault(window.id, set()).add(update)
                    key = (session.revision.task, window.id)
                    self.counted.setdefault(key, []).append(part)
        session.over = True

    def flush_all(self) -> None:
        for session in self.sessions.values():
            if not session.over:
                self.flush(session)

    def kill(self, session: Session) -> None:
        session.over = True
        session.queue.clear()

    def forget(self, session: Session) -> None:
        del self.sessions[session.id]

    def windows_of(self, session_id: str, update: str, sealed: bytes) -> tuple[str, ...]:
        """What an update that arrived is for."""
        session = self.sessions[session_id]
        sha256 = session.revision.sha256
        plain = session.keys.open(sealed, client_task=sha256, session=session_id, update=update)
        windows, _ = unpack(plain, Shape.of(session.revision.client_task))
        return tuple(window.id for window in windows)

    def cells(self, task: str, window: str) -> Counter[int]:
        """How many parts have each cell: with one cell per phone, a 2 is a double count."""
        found: Counter[int] = Counter()
        for part in self.counted.get((task, window), []):
            found.update(part.ranks.tolist())
        return found


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
