"""A canary: one phone's marked update, looked for wherever something could have been kept."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import redis

from aggregation.protocol.part import Part


def spellings(secret: bytes) -> Iterator[bytes]:
    """The bytes themselves, and as programs like to write bytes into logs and documents."""
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    yield repr(secret)[2:-1].encode()
    for lead in range(3):
        # Base64 of a longer text has these in the middle, whichever way it falls.
        padded = base64.b64encode(b"\0" * lead + secret)
        yield padded[4 if lead else 0 : -4]


def rows_of(part: Part) -> list[bytes]:
    """A part's rows as an update, a sum of one device, or a printed list would hold them."""
    found = []
    for row in part.values:
        found.append(row.astype("<i8").tobytes())
        found.append(", ".join(map(str, row.tolist())).encode())
        found.append(",".join(map(str, row.tolist())).encode())
    return found


def sweep(folder: Path, queue: redis.Redis, secrets: list[bytes]) -> list[str]:
    """Where any of the secrets was found: files under a folder, and all that Valkey holds."""
    wanted = {spelling for secret in secrets for spelling in spellings(secret)}
    found = [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and _holds(path.read_bytes(), wanted)
    ]
    for key in queue.scan_iter(count=1000):
        if _holds(_dump(queue, key), wanted):
            found.append(key.decode(errors="replace"))
    return found


def _holds(haystack: bytes, wanted: set[bytes]) -> bool:
    return any(spelling in haystack for spelling in wanted)


def _dump(queue: redis.Redis, key: bytes) -> bytes:
    """What a key holds, element by element: Valkey's own dump may be compressed."""
    kind = queue.type(key)
    if kind == b"string":
        return queue.get(key) or b""
    if kind == b"list":
        return b"\n".join(queue.lrange(key, 0, -1))
    if kind == b"hash":
        return b"\n".join(part for pair in queue.hgetall(key).items() for part in pair)
    if kind == b"set":
        return b"\n".join(queue.smembers(key))
    if kind == b"zset":
        return b"\n".join(queue.zrange(key, 0, -1))
    return queue.dump(key) or b""
