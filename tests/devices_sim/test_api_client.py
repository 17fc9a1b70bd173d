"""The HTTP client: what it sends, and what it makes of a server that is not honest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from aiohttp import web

from aggregation.protocol.messages import Active, CheckIn, Offers
from devices_sim.device import connection, once_only
from devices_sim.device.api_client import Busy, HttpApi, Meter, NotReached, connected

CHECK_IN = CheckIn(version=1, population="DE")
EMPTY = b'{"tasks":[],"next_check_in":{"min_seconds":60,"max_seconds":90},"new":"unknown"}'
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
UPLOAD = {"session": "5" * 32, "update": "7" * 16, "token": "3" * 32, "sealed": b"sealed"}


def against(answer: Answer, act: Callable[[HttpApi, Meter], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        base = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with connected(base) as api:
            try:
                return await act(api, Meter())
            finally:
                await runner.cleanup()

    return asyncio.run(run())


def fixed(status: int = 200, body: bytes = EMPTY, **headers: str) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, body=body, headers=named)

    return answer


def test_it_works_and_ignores_what_it_does_not_know() -> None:
    offers = against(fixed(), lambda api, meter: api.check_in(CHECK_IN, meter))
    assert isinstance(offers, Offers)
    assert offers.next_check_in.max_seconds == 90


def test_it_sends_nothing_that_tells_phones_apart() -> None:
    seen: list[Any] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        seen.append((request.path, dict(request.headers), await request.read()))
        return web.Response(body=EMPTY, headers={"Set-Cookie": "id=1"})

    async def twice(api: HttpApi, meter: Meter) -> None:
        for _ in range(2):
            await api.check_in(CHECK_IN, meter)

    against(answer, twice)
    assert seen[0] == seen[1]
    path, headers, body = seen[0]
    assert path == "/device/v1/check-in"
    assert set(headers) == {*("Host", "User-Agent", "Content-Length", "Content-Type")}
    assert headers["User-Agent"] == "mayfly"
    assert body == b'{"version":1,"population":"DE"}'


def test_the_meter_counts_heads_and_bodies() -> None:
    async def metered(api: HttpApi, meter: Meter) -> Meter:
        await api.check_in(CHECK_IN, meter)
        return meter

    meter = against(fixed(), metered)
    assert 100 < meter.up < 350
    assert len(EMPTY) + 80 < meter.down < len(EMPTY) + 300


@pytest.mark.parametrize(
    "answer",
    [
        fixed(status=404),
        fixed(status=500),
        fixed(status=302, Location="/elsewhere"),
        fixed(status=204, body=b""),
        fixed(body=b"not json"),
        fixed(body=b'{"tasks":[{}]}'),
        fixed(body=b"[" * 100_000),
        fixed(body=b" " * (1 << 20) + EMPTY),
    ],
)
def test_an_answer_that_makes_no_sense_is_none(answer: Answer) -> None:
    with pytest.raises(NotReached):
        against(answer, lambda api, meter: api.check_in(CHECK_IN, meter))


def test_an_endless_answer_is_left_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_ANSWER", 1000)

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with suppress(ConnectionError):
            while True:
                await response.write(b"x" * 500)
        return response

    with pytest.raises(NotReached):
        against(endless, lambda api, meter: api.client_task("a" * 64, meter))


def test_no_server_is_no_answer() -> None:
    async def run() -> None:
        async with connected("http://127.0.0.1:1") as api:
            await api.check_in(CHECK_IN, Meter())

    with pytest.raises(NotReached):
        asyncio.run(run())


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("0", 0.0), ("999999", 3600.0), ("soon", 60.0), ("-1", 60.0), ("", 60.0)],
)
@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_says_for_how_long(status: int, header: str, seconds: float) -> None:
    with pytest.raises(Busy) as busy:
        against(
            fixed(status=status, Retry_After=header),
            lambda api, meter: api.active(Active(version=1, population="DE"), meter),
        )
    assert busy.value.seconds == seconds


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (202, once_only.Queued()),
        (410, once_only.SessionShut()),
        (411, once_only.NotTaken()),
        (413, once_only.NotTaken()),
        (422, once_only.NotTaken()),
        (200, once_only.NoAnswer()),
        (400, once_only.NoAnswer()),
        (500, once_only.NoAnswer()),
    ],
)
def test_answers_to_an_upload(status: int, answer: once_only.Answer) -> None:
    seen: list[Any] = []

    async def upload(request: web.Request) -> web.StreamResponse:
        named = [request.headers[f"Mayfly-{name}"] for name in ("Update", "Token")]
        seen.append((request.path, *named, request.content_length, await request.read()))
        return web.Response(status=status)

    found = against(upload, lambda api, meter: api.upload(**UPLOAD, meter=meter))
    assert found == answer
    path = f"/device/v1/sessions/{'5' * 32}/updates"
    assert seen == [(path, "7" * 16, "3" * 32, 6, b"sealed")]


@pytest.mark.parametrize(
    ("status", "body", "answer"),
    [
        (200, b'{"state":"open"}', once_only.StillOpen()),
        (200, b'{"state":"over","counted":[]}', once_only.Over(frozenset())),
        (
            200,
            b'{"state":"over","counted":["2026-11-09"],"more":1}',
            once_only.Over(frozenset({"2026-11-09"})),
        ),
        (200, b'{"state":"over"}', once_only.NoAnswer()),
        (200, b'{"state":"lost"}', once_only.NoAnswer()),
        (200, b"", once_only.NoAnswer()),
        (404, b'{"error":{"code":"not_found","message":"No."}}', once_only.UnknownSession()),
        (500, b"", once_only.NoAnswer()),
    ],
)
def test_answers_to_how_an_update_fared(status: int, body: bytes, answer: once_only.Answer) -> None:
    found = against(
        fixed(status=status, body=body),
        lambda api, meter: api.status(session="5" * 32, update="7" * 16, meter=meter),
    )
    assert found == answer
