"""The device API over HTTP: six calls, no cookies, no name, nothing but what the protocol says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol, TypeVar

from aggregation.errors import Problem
from aggregation.protocol.messages import (
    Active,
    AssignmentRequest,
    Assignments,
    CheckIn,
    Failure,
    Offers,
    SessionOver,
    read_answer,
    read_status,
    write,
)
from devices_sim.device import once_only
from devices_sim.device.http import Http, NoReply

_JSON: Final = "\r\nContent-Type: application/json"
_BYTES: Final = "\r\nContent-Type: application/octet-stream"


_Answer = TypeVar("_Answer", Offers, Assignments)


class NotReached(Exception):
    """There was no answer, or none that this protocol knows."""


class Busy(NotReached):
    """The server asks for quiet for so many seconds of machine time."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class Declined(NotReached):
    """The server says why it will not answer this, such as that there is no such population."""

    def __init__(self, message: str) -> None:
        super().__init__()
        self.message = message


@dataclass
class Meter:
    """Bytes on the wire: bodies, headers and first lines, both ways."""

    up: int = 0
    down: int = 0


class DeviceApi(Protocol):
    """What a phone can ask of a server. Each call adds its bytes to the meter."""

    async def active(self, message: Active, meter: Meter) -> None: ...

    async def check_in(self, message: CheckIn, meter: Meter) -> Offers: ...

    async def assignments(self, message: AssignmentRequest, meter: Meter) -> Assignments: ...

    async def client_task(self, sha256: str, meter: Meter) -> bytes: ...

    async def upload(
        self, *, session: str, update: str, token: str, sealed: bytes, meter: Meter
    ) -> once_only.Answer: ...

    async def status(self, *, session: str, update: str, meter: Meter) -> once_only.Answer: ...


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[HttpApi]:
    """The device API of the portal at this address."""
    async with Http(url) as http:
        yield HttpApi(http)


class HttpApi:
    """One server's device API; phones of a process may share it and its connections."""

    def __init__(self, http: Http) -> None:
        self._http = http

    async def active(self, message: Active, meter: Meter) -> None:
        await self._expect(204, "POST", "/active", meter, write(message))

    async def check_in(self, message: CheckIn, meter: Meter) -> Offers:
        return _offers(await self._expect(200, "POST", "/check-in", meter, write(message)))

    async def assignments(self, message: AssignmentRequest, meter: Meter) -> Assignments:
        body = await self._expect(200, "POST", "/assignments", meter, write(message))
        return _read(Assignments, body)

    async def client_task(self, sha256: str, meter: Meter) -> bytes:
        # By its hash, not by an address that a server could make up for one phone alone.
        return await self._expect(200, "GET", f"/client-tasks/{sha256}", meter)

    async def upload(
        self, *, session: str, update: str, token: str, sealed: bytes, meter: Meter
    ) -> once_only.Answer:
        headers = f"{_BYTES}\r\nMayfly-Update: {update}\r\nMayfly-Token: {token}"
        path = f"/sessions/{session}/updates"
        status, _ = await self._call("POST", path, meter, sealed, headers)
        return _UPLOADED.get(status, once_only.NoAnswer())

    async def status(self, *, session: str, update: str, meter: Meter) -> once_only.Answer:
        path = f"/sessions/{session}/updates/{update}"
        status, body = await self._call("GET", path, meter)
        if status == 404:
            return once_only.UnknownSession()
        if status != 200:
            return once_only.NoAnswer()
        return _fared(body)

    async def _expect(
        self, wanted: int, method: str, path: str, meter: Meter, body: bytes = b""
    ) -> bytes:
        status, answer = await self._call(method, path, meter, body, _JSON if body else "")
        if status != wanted:
            raise Declined(_said(answer)) if 400 <= status < 500 else NotReached
        return answer

    async def _call(
        self, method: str, path: str, meter: Meter, body: bytes = b"", headers: str = ""
    ) -> tuple[int, bytes]:
        try:
            reply = await self._http.ask(method, f"/device/v1{path}", body, headers)
        except NoReply:
            raise NotReached from None
        meter.up += reply.up
        meter.down += reply.down
        if reply.status in (429, 503):
            raise Busy(_seconds(reply.headers.get(b"retry-after", b"")))
        return reply.status, reply.body


def _said(body: bytes) -> str:
    try:
        return read_answer(Failure, body).error.message[:200]
    except Problem:
        return "It does not say why."


_UPLOADED: Final[dict[int, once_only.Answer]] = {
    202: once_only.Queued(),
    410: once_only.SessionShut(),
    411: once_only.NotTaken(),
    413: once_only.NotTaken(),
    422: once_only.NotTaken(),
}


def _read(kind: type[_Answer], body: bytes) -> _Answer:
    try:
        return read_answer(kind, body)
    except Problem:
        raise NotReached from None


@lru_cache(maxsize=64)
def _offers(body: bytes) -> Offers:
    """Phones of a population are told the same for a while: the same bytes say the same."""
    return _read(Offers, body)


def _fared(body: bytes) -> once_only.Answer:
    try:
        status = read_status(body)
    except Problem:
        return once_only.NoAnswer()
    if isinstance(status, SessionOver):
        return once_only.Over(frozenset(status.counted))
    return once_only.StillOpen()


def _seconds(text: bytes) -> float:
    """Whole seconds, at most an hour; a minute where the server does not say."""
    return min(float(text), 3600.0) if text.isdigit() else 60.0
