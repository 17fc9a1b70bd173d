"""The short way for uploads: taken where it can be, and with the same answers as the usual one."""

import secrets
import socket
from collections.abc import Iterator

import pytest

from aggregation.protocol.tokens import token
from tests.portal.device_api.front_end import (
    PROTOCOL,
    UNPROXIED,
    FrontEnd,
    queue_of,
    running_front_end,
    running_uvicorn,
)
from tests.portal.device_api.raw_http import exchange, request

UPLOAD = f"/device/v1/sessions/{'ab' * 16}/updates"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    application = "tests.portal.device_api.two_ways:application"
    with running_uvicorn(application, *PROTOCOL, *UNPROXIED) as (port, _):
        yield port


def ways(port: int, *requests: bytes) -> list[int]:
    replies = exchange(port, b"".join(requests), replies=len(requests))
    return [reply.status for reply in replies]


def test_an_upload_that_is_whole_takes_it(port: int) -> None:
    assert ways(port, request("POST", UPLOAD, b"sealed")) == [202]


@pytest.mark.parametrize(
    "unusual",
    [
        request("POST", UPLOAD, b"refused"),
        request("POST", UPLOAD, b"sealed", ("Expect", "100-continue")),
        request("PUT", UPLOAD, b"sealed"),
        request("POST", "/device/v1/check-in", b"{}"),
        # More than is read at a time.
        request("POST", UPLOAD, bytes(3_000_000)),
    ],
)
def test_anything_else_goes_the_usual_way(port: int, unusual: bytes) -> None:
    assert ways(port, unusual) == [200]


def test_one_after_the_other_is_answered_in_order(port: int) -> None:
    upload, other = request("POST", UPLOAD, b"sealed"), request("GET", "/", b"")
    assert ways(port, upload, other, upload) == [202, 200, 200]


def test_one_that_was_sent_ahead_is_waited_for_the_usual_way(port: int) -> None:
    upload = request("POST", UPLOAD, b"sealed")
    with socket.create_connection(("127.0.0.1", port), timeout=15) as connection:
        connection.sendall(upload + upload[:-3])
        assert connection.recv(1000).startswith(b"HTTP/1.1 202")
        connection.sendall(upload[-3:])
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")


def test_a_connection_ends_when_the_device_asks_for_it(port: int) -> None:
    upload = request("POST", UPLOAD, b"sealed", ("Connection", "close"))
    (reply,) = exchange(port, upload + upload, replies=2)
    assert (reply.status, reply.headers["connection"]) == (202, "close")
    old = upload.replace(b"HTTP/1.1", b"HTTP/1.0").replace(b"Connection: close\r\n", b"")
    (reply,) = exchange(port, old, replies=2)
    assert (reply.status, reply.headers["connection"]) == (202, "close")


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
