"""Plain requests: whatever is read the quick way, the full parser reads alike."""

from __future__ import annotations

import httptools
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.device_api.plain import plain_request
from tests.portal.device_api.raw_http import request

UPLOAD = f"/device/v1/sessions/{'ab' * 16}/updates"
CHECK_IN = request("POST", "/device/v1/check-in", b'{"version":1}', ("User-Agent", "a phone (b)"))
STATUS = request("GET", f"{UPLOAD}/{'cd' * 8}", length=False)
SENT = request("POST", UPLOAD, b"sealed", ("Mayfly-Update", "00" * 8), ("Mayfly-Token", "1" * 32))


class Full:
    """What httptools makes of the first request in some bytes."""

    def __init__(self, data: bytes) -> None:
        self.url, self.headers, self.body, self.is_done = b"", [], b"", False
        parser = httptools.HttpRequestParser(self)
        for place in range(len(data)):
            if not self.is_done:
                parser.feed_data(data[place : place + 1])
                self.read = place + 1
        self.method = parser.get_method().decode()
        self.keeps_alive = parser.should_keep_alive()

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.is_done = True


def assert_read_alike(data: bytes) -> bool:
    """Whether it is plain; if so, both read the same, and the next one begins at the same place."""
    plain = plain_request(data, 0)
    if plain is None:
        return False
    full = Full(data)
    assert full.is_done
    assert full.keeps_alive
    assert (full.method, full.url.decode()) == (plain.head.method, plain.head.path)
    assert (full.headers, full.body) == (plain.head.headers, plain.body)
    assert full.read == plain.end
    return True


@pytest.mark.parametrize("raw", [CHECK_IN, STATUS, SENT])
def test_requests_of_devices_are_plain(raw: bytes) -> None:
    assert assert_read_alike(raw)
    assert assert_read_alike(raw + SENT)
    for end in range(len(raw)):
        assert plain_request(raw[:end], 0) is None


def test_it_begins_where_it_is_told_to() -> None:
    first = plain_request(CHECK_IN + SENT, 0)
    assert first is not None
    second = plain_request(CHECK_IN + SENT, first.end)
    assert second is not None
    assert (second.body, second.end) == (b"sealed", len(CHECK_IN + SENT))


# What makes requests ambiguous, and what only looks as if it did.
PIECES = [
    b"", b" ", b"\t", b"\r", b"\n", b"\r\n", b"\r\n ", b":", b"\0", b"\xff", b"0", b"+1", b"0x1",
    b"Content-Length: 3\r\n", b"content-length: 13\r\n", b"Transfer-Encoding: chunked\r\n",
    b"Connection: close\r\n", b"Expect: 100-continue\r\n", b"Upgrade: h2c\r\n", b"HTTP/1.0",
    b"X: y\r\n", b"?a=b", b"%2e", b"//", b"GET ", b"HEAD ",
]  # fmt: skip


@given(
    base=st.sampled_from([CHECK_IN, STATUS, SENT]),
    changes=st.lists(
        st.tuples(st.integers(0, 300), st.integers(0, 8), st.sampled_from(PIECES)),
        min_size=1, max_size=3,
    ),
)  # fmt: skip
def test_what_is_changed_is_read_alike_or_left(
    base: bytes, changes: list[tuple[int, int, bytes]]
) -> None:
    for place, cut, piece in changes:
        at = place % len(base)
        base = base[:at] + piece + base[at + cut :]
    assert_read_alike(base + SENT)


@pytest.mark.parametrize(
    "lines",
    [
        b"Content-Length: 3\r\n",
        b"Content-Length: 13\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Connection: close\r\n",
        b"Expect: 100-continue\r\n",
        b"Upgrade: h2c\r\n",
        b"Folded: a\r\n b\r\n",
        b"Spaced : a\r\n",
        b"Empty: \r\n",
        b"Long: " + b"a" * 3000 + b"\r\n",
    ],
)
def test_what_is_unusual_is_left(lines: bytes) -> None:
    assert plain_request(CHECK_IN.replace(b"Content", lines + b"Content", 1), 0) is None
