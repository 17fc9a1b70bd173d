"""Whatever a connection does, it costs the server little memory, and its place not for long."""

import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection, parse_headers
from pathlib import Path

import pytest

from tests.parts import eventually
from tests.portal.device_api.front_end import PROTOCOL, UNPROXIED, running_uvicorn
from tests.portal.device_api.raw_http import exchange
from tests.portal.device_api.raw_http import request as http_request

APPLICATION = "tests.security.impatient:application"
TWO_WAYS = "tests.portal.device_api.two_ways:application"
HURRIED = ("--http", "tests.security.impatient:Impatient")
MEGABYTE = 1_000_000
GET = http_request("GET", "/", b"")
UPLOAD = f"/device/v1/sessions/{'ab' * 16}/updates"
LONG_UPLOAD = http_request("POST", UPLOAD, b"long")


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[int, int]]:
    """A port and a process id, with the limits of the real server."""
    with running_uvicorn(APPLICATION, *PROTOCOL, *UNPROXIED) as (port, process):
        yield port, process.pid


@pytest.fixture(scope="module")
def devices() -> Iterator[tuple[int, int]]:
    """The same, with a short way for devices."""
    with running_uvicorn(TWO_WAYS, *PROTOCOL, *UNPROXIED) as (port, process):
        yield port, process.pid


@pytest.fixture(scope="module")
def hurried() -> Iterator[int]:
    """A port, where a request has 0.4 s to arrive."""
    with running_uvicorn(APPLICATION, *HURRIED, *UNPROXIED) as (port, _):
        yield port


@pytest.fixture(scope="module")
def hurried_devices() -> Iterator[int]:
    """The same, with a short way for devices."""
    with running_uvicorn(TWO_WAYS, *HURRIED, *UNPROXIED) as (port, _):
        yield port


def memory(pid: int) -> int:
    """Bytes of a process that are in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def flood(port: int, head: bytes, piece: bytes, most: int) -> bytes:
    """Send pieces until the server hangs up; what it said. Fails if it reads all of them."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        with suppress(OSError):
            connection.sendall(head)
            for _ in range(most // len(piece)):
                connection.sendall(piece)
            pytest.fail(f"The server has read {most:,} bytes.")
        with suppress(OSError):
            return connection.recv(1000)
    return b""


def is_hung_up_on(connection: socket.socket, more: bytes) -> bool:
    """Found out by sending more."""
    try:
        connection.sendall(more)
    except OSError:
        return True
    return False


def one_that_reads_little(port: int) -> socket.socket:
    """Its system keeps little for it, so that the rest stays with the server."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", port))
    return connection


HEADS = {
    "many headers": (b"GET / HTTP/1.1\r\n", b"a: b\r\n" * 1000),
    "one header": (b"GET / HTTP/1.1\r\na: ", b"b" * 6000),
    "a header's name": (b"GET / HTTP/1.1\r\n", b"b" * 6000),
    "an address": (b"GET /", b"b" * 6000),
}


@pytest.mark.parametrize("kind", HEADS)
def test_a_head_without_an_end_is_refused(server: tuple[int, int], kind: str) -> None:
    port, pid = server
    before = memory(pid)
    said = flood(port, *HEADS[kind], 40 * MEGABYTE)
    assert said[:12] in (b"", b"HTTP/1.1 431")  # nothing, where it was reset before it was read
    assert memory(pid) - before < 10 * MEGABYTE


TAILS = {
    "trailers": b"0\r\n" + b"a: b\r\n" * 1000,
    "extensions": b"1;" + b"b" * 6000,
}


@pytest.mark.parametrize("kind", TAILS)
def test_what_stands_around_chunks_has_an_end(server: tuple[int, int], kind: str) -> None:
    port, pid = server
    before = memory(pid)
    head = http_request("POST", "/", b"", ("Transfer-Encoding", "chunked"), length=False)
    piece = b"a: b\r\n" * 1000 if kind == "trailers" else b"b" * 6000
    flood(port, head + TAILS[kind], piece, 80 * MEGABYTE)
    assert memory(pid) - before < 40 * MEGABYTE


def test_a_flood_of_requests_sent_ahead_is_refused(server: tuple[int, int]) -> None:
    port, pid = server
    before = memory(pid)
    flood(port, b"", b"GET / HTTP/1.1\r\n\r\n" * 3000, 40 * MEGABYTE)
    assert memory(pid) - before < 40 * MEGABYTE


def test_some_requests_sent_ahead_are_answered(server: tuple[int, int]) -> None:
    assert len(exchange(server[0], GET * 40, replies=40)) == 40


@pytest.mark.parametrize("first", [b"long", b"later"])
def test_answers_that_nobody_reads_fill_no_memory(devices: tuple[int, int], first: bytes) -> None:
    """Those that can be written, and those that one before them keeps waiting."""
    port, pid = devices
    sent = http_request("POST", UPLOAD, first) + LONG_UPLOAD * 60
    with ExitStack() as stack:
        unread = [stack.enter_context(one_that_reads_little(port)) for _ in range(40)]
        before = memory(pid)
        for one in unread:
            one.sendall(sent)
        for one in unread:
            assert select.select([one], [], [], 20)[0]
        assert exchange(port, GET)[0].status == 200
        assert memory(pid) - before < 40 * MEGABYTE


@pytest.mark.parametrize(
    ("way", "sent"),
    [
        ("hurried", http_request("GET", "/long", b"")),
        ("hurried", http_request("GET", "/long", b"", ("Connection", "close"))),
        ("hurried_devices", LONG_UPLOAD * 60),
        ("hurried_devices", LONG_UPLOAD * 200),
    ],
    ids=["long", "the last", "short way", "too many"],
)
def test_an_answer_that_nobody_reads_is_given_up(
    request: pytest.FixtureRequest, way: str, sent: bytes
) -> None:
    with one_that_reads_little(request.getfixturevalue(way)) as connection:
        connection.sendall(sent)
        assert select.select([connection], [], [], 20)[0]
        eventually(lambda: is_hung_up_on(connection, b"\r\n"), within=15)


def test_a_usual_head_may_be_long(server: tuple[int, int]) -> None:
    headers = [(f"Cookie-{n}", "x" * 1000) for n in range(50)]
    (reply,) = exchange(server[0], http_request("GET", "/", b"", *headers))
    assert reply.status == 200


def test_a_long_body_is_no_long_head(server: tuple[int, int]) -> None:
    (reply,) = exchange(server[0], http_request("POST", "/", bytes(3 * MEGABYTE)))
    assert reply.body == b"3000000"


@pytest.mark.parametrize("end", [b"no request\r\n\r\n", None], ids=["garbage", "hung up"])
def test_nothing_is_written_to_a_connection_that_has_ended(
    tmp_path: Path, end: bytes | None
) -> None:
    """Whatever is at work on what was sent ahead learns of it: no traceback, at any time."""
    log, last = tmp_path / "log", http_request("GET", "/last", b"")
    with running_uvicorn(APPLICATION, *PROTOCOL, *UNPROXIED, log=log) as (port, _):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(last + GET + (end or b""))
            if end:
                assert connection.makefile("rb").read().startswith(b"HTTP/1.1 400 ")
        for path in ("/first", "/last", "/"):
            (reply,) = exchange(port, http_request("GET", path, b""))
            assert reply.status == 200
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize("way", ["hurried", "hurried_devices"])
@pytest.mark.parametrize(
    "sent",
    [b"", b"\r\n", b"GET / HT", GET[:-2], http_request("POST", "/", b"abc")[:-1]],
    ids=["nothing", "a blank line", "half a line", "half a head", "half a body"],
)
def test_a_request_that_does_not_come_is_given_up(
    request: pytest.FixtureRequest, way: str, sent: bytes
) -> None:
    with socket.create_connection(
        ("127.0.0.1", request.getfixturevalue(way)), timeout=15
    ) as connection:
        connection.sendall(sent)
        said = connection.makefile("rb").read()
    assert said.startswith(b"HTTP/1.1 408 ")
    assert said.endswith(b"The request took too long to arrive.")


@pytest.mark.parametrize("way", ["hurried", "hurried_devices"])
def test_a_blank_line_after_a_request_keeps_no_place(
    request: pytest.FixtureRequest, way: str
) -> None:
    with socket.create_connection(
        ("127.0.0.1", request.getfixturevalue(way)), timeout=15
    ) as connection:
        connection.sendall(GET)
        answers = connection.makefile("rb")
        assert answers.readline().startswith(b"HTTP/1.1 200 ")
        answers.read(int(parse_headers(answers)["content-length"]))
        connection.sendall(b"\r\n")
        said = answers.read()
    assert said.startswith(b"HTTP/1.1 408 ")


def test_one_that_drips_is_given_up(hurried: int) -> None:
    """Each byte comes in time, the whole does not."""
    with socket.create_connection(("127.0.0.1", hurried), timeout=15) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\na: ")
        eventually(lambda: is_hung_up_on(connection, b"a"), within=15)


def test_one_after_the_other_has_its_own_time(hurried: int) -> None:
    """Between them the server is silent for longer than a request may take to arrive."""
    with closing(HTTPConnection("127.0.0.1", hurried, timeout=15)) as connection:
        connection.connect()
        kept = connection.sock
        for _ in range(3):
            connection.request("GET", "/")
            assert connection.getresponse().read() == b"0"
            assert connection.sock is kept
            assert not select.select([kept], [], [], 0.6)[0]
