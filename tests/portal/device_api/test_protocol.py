"""The short way for devices: taken where it can be, and with the same answers as the usual one."""

import json
import re
import secrets
import socket
from collections.abc import Iterator

import pytest

from aggregation.protocol.tokens import token
from tests.portal.device_api.front_end import (
    PROTOCOL,
    UNPROXIED,
    FrontEnd,
    open_task,
    queue_of,
    running_front_end,
    running_uvicorn,
)
from tests.portal.device_api.raw_http import RawReply, exchange, request

UPLOAD = f"/device/v1/sessions/{'ab' * 16}/updates"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    application = "tests.portal.device_api.two_ways:application"
    with running_uvicorn(application, *PROTOCOL, *UNPROXIED) as (port, _):
        yield port


def ways(port: int, *requests: bytes) -> list[int]:
    replies = exchange(port, b"".join(requests), replies=len(requests))
    return [reply.status for reply in replies]


@pytest.mark.parametrize(
    "plain",
    [
        request("POST", UPLOAD, b"sealed"),
        request("POST", UPLOAD, b""),
        request("POST", "/device/v1/check-in", b"{}"),
        request("GET", f"{UPLOAD}/{'cd' * 8}", length=False),
    ],
)
def test_a_request_that_is_plain_and_whole_takes_it(port: int, plain: bytes) -> None:
    assert ways(port, plain) == [202]


@pytest.mark.parametrize(
    "unusual",
    [
        request("POST", UPLOAD, b"refused"),
        request("POST", UPLOAD, b"sealed", ("Expect", "100-continue")),
        request("PUT", UPLOAD, b"sealed"),
        request("GET", UPLOAD, b"sealed"),
        request("POST", "/api/v1/tasks", b"{}"),
        request("POST", f"{UPLOAD}?a=b", b"{}"),
        request("POST", UPLOAD, b"sealed", ("Connection", "keep-alive")),
        request("POST", UPLOAD, b"sealed").replace(b": 6", b":6"),
        request("POST", UPLOAD, b"sealed").replace(b": 6", b":  6"),
        request("POST", UPLOAD, b"sealed").replace(b": 6\r\n", b": 6 \r\n"),
        request(
            "POST",
            UPLOAD,
            b"6\r\nsealed\r\n0\r\n\r\n",
            ("Transfer-Encoding", "chunked"),
            length=False,
        ),
        # More than is read at a time.
        request("POST", UPLOAD, bytes(3_000_000)),
    ],
)
def test_anything_else_goes_the_usual_way(port: int, unusual: bytes) -> None:
    assert ways(port, unusual) == [200]


def test_requests_sent_ahead_are_answered_in_order(port: int) -> None:
    bodies = [b"later", b"a", b"bb", b"later", *([b"ccc"] * 200), b"later", b"dddd"]
    sent = b"".join(request("POST", UPLOAD, body) for body in bodies)
    replies = exchange(port, sent, replies=len(bodies))
    assert [(reply.status, reply.body) for reply in replies] == [(202, body) for body in bodies]


@pytest.mark.parametrize("first", [b"at once", b"later", b"refused"])
def test_both_ways_keep_one_order(port: int, first: bytes) -> None:
    upload, other = request("POST", UPLOAD, first), request("GET", "/", b"")
    expected = 200 if first == b"refused" else 202
    # What follows one that goes the usual way, and comes with it, goes the usual way.
    assert ways(port, upload, other, upload) == [expected, 200, 200]


def test_the_rest_of_a_request_that_came_in_pieces_is_waited_for(port: int) -> None:
    upload = request("POST", UPLOAD, b"later")
    with socket.create_connection(("127.0.0.1", port), timeout=15) as connection:
        connection.sendall(upload + upload[:-3])
        assert connection.recv(1000).startswith(b"HTTP/1.1 202")
        connection.sendall(upload[-3:])
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        connection.sendall(upload)
        assert connection.recv(1000).startswith(b"HTTP/1.1 202")


def test_a_connection_ends_when_the_device_asks_for_it(port: int) -> None:
    upload = request("POST", UPLOAD, b"sealed", ("Connection", "close"))
    (reply,) = exchange(port, upload + upload, replies=2)
    assert (reply.status, reply.headers["connection"]) == (200, "close")
    old = upload.replace(b"HTTP/1.1", b"HTTP/1.0").replace(b"Connection: close\r\n", b"")
    (reply,) = exchange(port, old, replies=2)
    assert (reply.status, reply.headers["connection"]) == (200, "close")


def test_one_that_rests_is_closed_and_one_that_waits_is_not() -> None:
    options = (*PROTOCOL, *UNPROXIED, "--timeout-keep-alive", "1")
    with (
        running_uvicorn("tests.portal.device_api.two_ways:application", *options) as (port, _),
        socket.create_connection(("127.0.0.1", port), timeout=15) as connection,
    ):
        for _ in range(3):
            connection.sendall(request("POST", UPLOAD, b"later"))
            assert connection.recv(1000).startswith(b"HTTP/1.1 202")
        assert connection.recv(1000) == b""


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[FrontEnd, FrontEnd]]:
    """With the short way, and without."""
    plain = ("--http", "httptools", *UNPROXIED)
    with running_front_end() as ours, running_front_end(options=plain) as usual:
        yield ours, usual


def test_both_ways_say_the_same(both: tuple[FrontEnd, FrontEnd]) -> None:
    session = secrets.token_hex(16)
    said = [list(answers(one, session)) for one in both]
    assert said[0] == said[1]
    assert [status for status, *_ in said[0]] == [202, 202, 410, 422, 413, 411, 422, 400]
    for one in both:
        assert one.valkey.client.lrange(queue_of(session), 0, -1)[1:] == [
            UPDATE + b"sealed",
            UPDATE,
        ]


def test_both_ways_answer_every_call_alike(both: tuple[FrontEnd, FrontEnd]) -> None:
    task = open_task()
    session, sha256 = task["sessions"][0]["id"], task["client_task"]
    calls = [
        *(
            request("POST", f"/device/v1/{call}", b'{"version":1,"population":"%b"}' % population)
            for call in ("check-in", "active")
            for population in (b"DE", b"nowhere", b'","a":"')
        ),
        request("GET", f"/device/v1/sessions/{session}/updates/{UPDATE.hex()}", length=False),
        request("GET", f"/device/v1/sessions/{session}/updates/none", length=False),
        request("GET", f"/device/v1/client-tasks/{'0' * 64}", length=False),
        request("GET", "/device/v1/check-in", length=False),
        request("POST", "/device/v1/elsewhere", b"{}"),
        request("POST", "/device/v1/assignments", wanted(task["task"], "0" * 64)),
    ]
    said = []
    for one in both:
        one.publish(task)
        said.append([_without_chance(exchange(one.port, call)[0]) for call in calls])
    assert said[0] == said[1]
    assert [status for status, *_ in said[0]] == [
        *(200, 422, 422, 204, 422, 422),
        *(200, 422, 404, 405, 404, 200),
    ]
    for one in both:
        (given,) = exchange(
            one.port, request("POST", "/device/v1/assignments", wanted(task["task"], sha256))
        )
        assert json.loads(given.body)["assignments"][0]["session"] == session


def wanted(task: str, sha256: str) -> bytes:
    asked = {"version": 1, "population": "DE", "tasks": [{"task": task, "client_task": sha256}]}
    return json.dumps(asked).encode()


def _without_chance(reply: RawReply) -> tuple[int, dict[str, str], bytes]:
    """But for the time of day, and when a device that was turned away may come back."""
    body = re.sub(rb'"retry_seconds":\d+', b"", reply.body)
    chance = {"date"} if body == reply.body else {"date", "content-length"}
    headers = {name: value for name, value in reply.headers.items() if name not in chance}
    return reply.status, headers, body


UPDATE = bytes(range(8))


def answers(front_end: FrontEnd, session: str) -> Iterator[tuple[int, dict[str, str], bytes]]:
    """What it says to uploads of every kind, but for the time of day."""
    front_end.open_queue(session)
    gone, update = secrets.token_hex(16), UPDATE.hex()
    here, there = (
        (
            f"/device/v1/sessions/{one}/updates",
            ("Mayfly-Update", update),
            ("Mayfly-Token", token(front_end.token_key, session=one, update=update)),
        )
        for one in (session, gone)
    )
    path, *headers = here
    for raw in (
        request("POST", path, b"sealed", *headers),
        request("POST", path, b"", *headers),
        request("POST", there[0], b"sealed", *there[1:]),
        request("POST", path, b"sealed", headers[0], ("Mayfly-Token", "0" * 32)),
        request("POST", path, bytes(100_000), *headers),
        request(
            "POST", path, b"0\r\n\r\n", *headers, ("Transfer-Encoding", "chunked"), length=False
        ),
        request("POST", path, b"sealed", *headers, headers[0]),
        request("POST", path, b"sealed", *headers).replace(b"Host: 127.0.0.1", b"Host: elsewhere"),
    ):
        (reply,) = exchange(front_end.port, raw)
        reply.headers.pop("date")
        yield reply.status, reply.headers, reply.body
