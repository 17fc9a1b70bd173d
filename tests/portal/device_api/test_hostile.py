"""Whatever is sent: a refusal, never a 5xx, nothing in the log, and the next one is served."""

import json
import random
import secrets
import socket

import pytest

from aggregation.protocol.messages import Code
from portal.collection.active import counter
from portal.device_api.patience import PatientProtocol
from tests.parts import eventually
from tests.portal.device_api.bad_requests import CANARY, bad_request
from tests.portal.device_api.front_end import FrontEnd, queue_of
from tests.portal.device_api.raw_http import RawReply, exchange, request
from tests.portal.pages.reading_docs import tables

REFUSED = {400, 404, 405, 411, 413, 422}
# What a request that happens to be right is answered with: the session asked for has a queue.
FINE = {200, 202, 204}


CHECK_IN = request("POST", "/device/v1/check-in", b'{"version":1,"population":"DE"}')


@pytest.fixture
def session(front_end: FrontEnd) -> str:
    made = secrets.token_hex(16)
    front_end.open_queue(made)
    front_end.publish()
    return made


def test_bad_requests_are_refused_and_nothing_breaks(
    front_end: FrontEnd, session: str, size: str
) -> None:
    rng = random.Random(5)
    seen = set()
    for number in range(500 if size == "everyday" else 4_000):
        raw = bad_request(rng, session)
        # Some are incomplete: the server waits for the rest, and we do not.
        for reply in exchange(front_end.port, raw, patience=0.5):
            assert reply.status in REFUSED | FINE, (number, raw[:300], reply)
            assert_uniform(reply)
            seen.add(reply.status)
    assert seen >= REFUSED
    assert front_end.check_in().status == 200
    # Nothing without a token got in.
    assert front_end.valkey.client.lrange(queue_of(session), 0, -1) == [b""]
    assert_quiet(front_end, session)


def assert_uniform(reply: RawReply) -> None:
    assert "set-cookie" not in reply.headers
    if reply.status < 400 or reply.headers.get("content-type", "").startswith("text/plain"):
        return  # the HTTP parser's own words for what is no HTTP
    if reply.body:  # none for HEAD
        error = json.loads(reply.body)["error"]
        assert set(error) == {"code", "message", "hint"}
        assert error["code"] in set(Code)


def assert_quiet(front_end: FrontEnd, session: str) -> None:
    log = front_end.log
    for word in (CANARY, session, "127.0.0.1", "Traceback", "Exception", "device/v1"):
        assert word not in log


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b": 31", b": many"),
        (b": 31", b": -31"),
        (b": 31", b": " + b"9" * 30),
        (b": 31", b": 31\r\nContent-Length: 31"),
        (b"\r\n", b"\n"),
        (b": 31", b": 31\r\nNote: a\r\n b"),
        (b"POST", b"SEND"),
        (b"check-in", b"\xc3\xb6"),
    ],
)
def test_what_is_no_http_is_answered_in_plain_text(
    front_end: FrontEnd, old: bytes, new: bytes
) -> None:
    raw = CHECK_IN.replace(old, new)
    assert raw != CHECK_IN
    (reply,) = exchange(front_end.port, raw, replies=2)
    assert reply.status == 400
    assert reply.headers["content-type"].startswith("text/plain")
    assert reply.headers["connection"] == "close"


@pytest.mark.parametrize("blank", [b" ", b"\t"])
def test_a_blank_after_a_length_is_told_in_the_usual_shape(
    front_end: FrontEnd, blank: bytes
) -> None:
    (reply,) = exchange(front_end.port, CHECK_IN.replace(b": 31", b": 31" + blank))
    assert (reply.status, json.loads(reply.body)["error"]["code"]) == (400, "bad_request")


def test_the_page_says_what_is_answered_in_plain_text() -> None:
    _, plain = [rows for heading, rows in tables("device-protocol") if heading == "Errors"]
    assert [status for status, *_ in plain] == ["400", "408", "413", "431"]
    _, late, long, head = [means for _, means, _ in plain]
    assert f"{PatientProtocol.arrival_seconds:.0f} s" in late
    assert f"{PatientProtocol.longest_request // 1_000_000} MB" in long
    assert f"{PatientProtocol.longest_head // 1024} kB" in head
    assert f"{PatientProtocol.most_headers} headers" in head


def test_a_refused_body_is_not_read_as_the_next_request(front_end: FrontEnd, session: str) -> None:
    front_end.valkey.client.delete(counter("DE"))
    inner = request("POST", "/device/v1/active", b'{"version":1,"population":"DE"}')
    token = ("Mayfly-Token", "0" * 32)
    outer = request("POST", f"/device/v1/sessions/{session}/updates", inner, token)
    assert [r.status for r in exchange(front_end.port, outer + inner, replies=3)] == [422]
    assert not front_end.valkey.client.exists(counter("DE"))


def test_requests_in_one_go_are_answered_in_order(front_end: FrontEnd, session: str) -> None:
    wrong = request("POST", "/device/v1/check-in", b"not JSON")
    get = request("GET", "/device/v1/active", length=False)
    found = exchange(front_end.port, CHECK_IN + wrong + get + CHECK_IN, replies=4)
    assert [reply.status for reply in found] == [200, 422, 405, 200]


def test_a_wrong_method_is_told_the_right_one(front_end: FrontEnd) -> None:
    reply = front_end.ask("GET", "/device/v1/check-in")
    assert (reply.status, reply.code, reply.headers["allow"]) == (405, "method_not_allowed", "POST")
    reply = front_end.ask("POST", f"/device/v1/client-tasks/{'0' * 64}")
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD")


def test_a_body_without_a_length_is_refused(front_end: FrontEnd, session: str) -> None:
    for word in ("active", "check-in", "assignments"):
        raw = request("POST", f"/device/v1/{word}", length=False)
        (reply,) = exchange(front_end.port, raw)
        assert reply.status == 411
    with front_end.begin_upload(session, 0, how="Transfer-Encoding: chunked") as connection:
        assert connection.makefile("rb").read().startswith(b"HTTP/1.1 411 ")


def test_a_length_is_refused_before_a_byte_is_read(front_end: FrontEnd, session: str) -> None:
    """The answer is there although nothing of the body was sent; the connection ends with it."""
    for length in (70_000, 10**9, 10**15):
        with front_end.begin_upload(session, length) as connection:
            data = connection.makefile("rb").read()
        assert data.startswith(b"HTTP/1.1 413 ")
        assert b"connection: close" in data


@pytest.mark.parametrize("more", [{}, {"language": "x"}])
def test_a_version_that_is_not_spoken_is_named(front_end: FrontEnd, more: dict[str, str]) -> None:
    body = {"version": 2, "population": "DE", **more}
    reply = front_end.ask("POST", "/device/v1/check-in", body)
    assert (reply.status, reply.code) == (422, "wrong_version")


def test_a_device_that_hangs_up_leaves_nothing_behind(front_end: FrontEnd, session: str) -> None:
    for _ in range(20):
        connection = front_end.begin_upload(session, 5000)
        connection.sendall(b"x" * 100)
        connection.close()
    eventually(lambda: front_end.upload(session).status == 202)
    items = front_end.valkey.client.lrange(queue_of(session), 0, -1)
    assert [len(item) for item in items] == [0, 8 + len(b"sealed")]
    assert_quiet(front_end, session)


def test_what_a_device_has_sent_counts_although_it_hangs_up(
    front_end: FrontEnd, session: str
) -> None:
    connection = front_end.begin_upload(session, 6)
    connection.sendall(b"sealed")
    connection.shutdown(socket.SHUT_RDWR)
    connection.close()
    client = front_end.valkey.client
    eventually(lambda: client.llen(queue_of(session)) == 2)
    assert_quiet(front_end, session)


def test_a_session_that_nobody_knows_is_given_up(front_end: FrontEnd) -> None:
    reply = front_end.status(secrets.token_hex(16), secrets.token_hex(8))
    assert (reply.status, reply.code) == (404, "not_found")


@pytest.mark.parametrize("ids", [("x", "0" * 16), ("0" * 32, "0" * 15), ("A" * 32, "0" * 16)])
def test_an_address_that_is_none_is_refused(front_end: FrontEnd, ids: tuple[str, str]) -> None:
    reply = front_end.status(*ids)
    assert (reply.status, reply.code) == (422, "bad_request")
