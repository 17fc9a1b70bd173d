"""Requests of devices read straight from their bytes, where they are written in the plain way.

HTTP can be written in many ways, and a reader that is quicker than the full one must read nothing
differently. So this one knows a single spelling, that of a device with nothing unusual to say: a
path of ours, one header a line, a length and all of the body. It never says that a request is
wrong. Whatever is not plain, or not all there, is left to the full reader, from its first byte on.
"""

import re
from functools import lru_cache
from typing import NamedTuple

# A sentence of visible characters, for values; a colon and one space before it.
_HEAD = re.compile(
    rb"(GET|POST) (/device/v1/[0-9a-z/-]{1,150}) HTTP/1\.1\r\n"
    rb"((?:[A-Za-z0-9-]{1,40}: [!-~]{1,200}(?: [!-~]{1,200}){0,20}\r\n){1,20})\r\n"
)
_MOST_HEAD = 2000
_END = b"\r\n\r\n"
# What changes how a request is read, or what follows it.
_UNUSUAL = frozenset(
    (b"connection", b"expect", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade")
)
# More digits than any length we take.
_DIGITS = 10
# Paths that are another one each time, so that it is no use to remember their heads.
_EACH_ITS_OWN = b" /device/v1/sessions/"


class Head(NamedTuple):
    method: str
    path: str
    # Names in lower case.
    headers: list[tuple[bytes, bytes]]
    # Bytes of the body.
    length: int


class Plain(NamedTuple):
    head: Head
    body: bytes
    # Where the next request begins.
    end: int


def plain_request(data: bytes, at: int) -> Plain | None:
    """The request that begins there, if it is plain and whole."""
    begins = data.find(_END, at, at + _MOST_HEAD) + len(_END)
    if begins < len(_END):
        return None
    raw = data[at:begins]
    head = (_read if _EACH_ITS_OWN in raw[:30] else _known)(raw)
    if head is None or len(data) < begins + head.length:
        return None
    end = begins + head.length
    return Plain(head, data[begins:end], end)


def _read(raw: bytes) -> Head | None:
    found = _HEAD.fullmatch(raw)
    if found is None:
        return None
    method, path, lines = found.groups()
    pairs = [line.split(b": ", 1) for line in lines[:-2].split(b"\r\n")]
    headers = [(name.lower(), value) for name, value in pairs]
    names = [name for name, _ in headers]
    if not _UNUSUAL.isdisjoint(names) or names.count(b"content-length") != (method == b"POST"):
        return None
    length = dict(headers).get(b"content-length", b"0")
    if not length.isdigit() or len(length) > _DIGITS:
        return None
    return Head(method.decode(), path.decode(), headers, int(length))


# Devices of a population ask the same in the same words; strangers' push each other out.
_known = lru_cache(maxsize=1024)(_read)
