"""Answers read straight from their bytes, where they are written in the plain way.

As on the server's side: one spelling is known here, and whatever else comes is left to a full
parser from its first byte on. Nothing is read differently, only quicker.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

# Bytes of an answer, its head included.
MAX_ANSWER: Final = 1 << 20
_MOST_HEAD: Final = 2000
_END: Final = b"\r\n\r\n"
_HEAD: Final = re.compile(
    rb"HTTP/1\.1 ([2-5][0-9]{2})(?: [!-~]+)*\r\n"
    rb"((?:[A-Za-z0-9-]{1,40}: [!-~]{1,200}(?: [!-~]{1,200}){0,20}\r\n){1,20})\r\n"
)
# What changes how an answer is read, or what follows it.
_UNUSUAL: Final = frozenset(
    (b"connection", b"keep-alive", b"trailer", b"transfer-encoding", b"upgrade")
)


class Reply(NamedTuple):
    status: int
    # Names in lower case.
    headers: dict[bytes, bytes]
    body: bytes
    # Bytes both ways: first lines, headers and bodies.
    up: int
    down: int


class _Head(NamedTuple):
    status: int
    headers: dict[bytes, bytes]
    length: int


def plain_reply(data: bytes, at: int, *, up: int) -> Reply | None:
    """The answer that begins there, if it is plain and whole, to a request of so many bytes."""
    begins = data.find(_END, at, at + _MOST_HEAD) + len(_END)
    head = _read(data[at:begins]) if begins >= len(_END) else None
    if head is None or len(data) < begins + head.length:
        return None
    body = data[begins : begins + head.length]
    return Reply(head.status, head.headers, body, up, begins - at + head.length)


# Answers of a second mostly begin with the same words.
@lru_cache(maxsize=256)
def _read(raw: bytes) -> _Head | None:
    found = _HEAD.fullmatch(raw)
    if found is None:
        return None
    status, lines = int(found[1]), found[2][:-2].split(b"\r\n")
    pairs = [line.split(b": ", 1) for line in lines]
    headers = {name.lower(): value for name, value in pairs}
    length = headers.get(b"content-length", b"0" if status == 204 else b"")
    if len(headers) < len(pairs) or not _UNUSUAL.isdisjoint(headers) or status == 304:
        return None
    if not length.isdigit() or len(length) > 7 or int(length) + len(raw) > MAX_ANSWER:
        return None
    return _Head(status, headers, int(length))
