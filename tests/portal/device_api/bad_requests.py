"""A generator of requests that are wrong in one or several ways."""

import json
import random
import secrets
from collections.abc import Callable

from tests.portal.device_api.raw_http import request

# Stands in every body and header we make; must not be in any log.
CANARY = "canary" + secrets.token_hex(8)

_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "post")
_WORDS = ("active", "check-in", "assignments")


def bad_request(rng: random.Random, session: str) -> bytes:
    return rng.choice(_KINDS)(rng, session)


def _path(rng: random.Random, session: str) -> str:
    sha, update = f"{rng.getrandbits(256):064x}", f"{rng.getrandbits(64):016x}"
    good = [
        *(f"/device/v1/{word}" for word in _WORDS),
        f"/device/v1/client-tasks/{sha}",
        f"/device/v1/sessions/{session}/updates",
        f"/device/v1/sessions/{session}/updates/{update}",
        f"/device/v1/sessions/{rng.getrandbits(128):032x}/updates",
    ]
    return rng.choice(good)


def _wrong_method(rng: random.Random, session: str) -> bytes:
    return request(rng.choice(_METHODS), _path(rng, session), _body(rng))


def _wrong_path(rng: random.Random, session: str) -> bytes:
    path = _path(rng, session)
    changed = rng.choice(
        [
            path + "/",
            path.replace("/v1/", "/v1//"),
            path.upper().replace("/DEVICE/V1/", "/device/v1/"),
            path[:-3],
            path + "?" + "a=" * 2000,
            path + "%00",
            path + "/%2e%2e/%2e%2e/active",
            path.replace(session, "%ff%fe" * 5),
            path.replace(session, "../" * 10),
            path.replace(session, "x" * 30_000),
            "/device/v1/",
            "/device/v1/%F0%9F%90%9B",
            f"/device/v1/{CANARY}",
        ]
    )
    return request(rng.choice(("GET", "POST")), changed, _body(rng))


def _wrong_json(rng: random.Random, session: str) -> bytes:
    return request("POST", f"/device/v1/{rng.choice(_WORDS)}", _body(rng))


def _body(rng: random.Random) -> bytes:
    known = {"version": 1, "population": "DE", "tasks": []}
    value = rng.choice([None, True, 0, -1, 1e300, 10**400, "", CANARY, [], {}, [[]], {"a": {}}])
    texts = [
        json.dumps({**known, rng.choice(["version", "population", "tasks"]): value}),
        json.dumps({**known, CANARY: value}),
        json.dumps({"version": 1, "population": "DE", "tasks": [{"task": value}] * 16}),
        json.dumps(value),
        '{"version":1,"version":2,"population":"DE","population":"FR"}',
        '{"version":NaN,"population":"DE"}',
        '{"version":1,"population":"\\ud800"}',
        '{"version":1,"population":"DE"',
        '{"version":1e1000,"population":"DE"}',
        '{"version":1,"population":"DE"}' * 2,
        "[" * 4000,
        '{"a":' * 800,
        '{"version":1,"population":' + "[" * 3000 + "]" * 900 + "}",
        '{"version":' + "9" * 4000 + ',"population":"DE"}',
        " " * 4096,
        CANARY,
        "",
    ]
    odd = [b"\xff\xfe" + CANARY.encode(), b"\x00" * 40, b"x" * 5000, b"\x1f\x8b" + bytes(100)]
    return rng.choice([*(text.encode() for text in texts), *odd])


def _wrong_headers(rng: random.Random, session: str) -> bytes:
    """An upload, or another call, with headers missing, doubled, in conflict or without sense."""
    given = [
        ("Mayfly-Update", f"{rng.getrandbits(64):016x}"),
        ("Mayfly-Token", f"{rng.getrandbits(128):032x}"),
        ("Content-Length", "6"),
    ]
    odd = [
        ("Mayfly-Token", CANARY),
        ("Mayfly-Token", "é" * 16),
        ("Mayfly-Update", "0" * 16),
        ("Mayfly-Update", "0" * 60_000),
        ("Host", "127.0.0.1"),
        ("Host", "evil.example"),
        ("Content-Length", "6"),
        ("Content-Length", "7"),
        ("Content-Length", "-1"),
        ("Content-Length", "6" * 30),
        ("Content-Length", "0x6"),
        ("Content-Length", "+6"),
        ("Content-Length", ""),
        ("Transfer-Encoding", "chunked"),
        ("Transfer-Encoding", "gzip, chunked"),
        ("Transfer-Encoding", "identity"),
        ("Expect", "100-continue"),
        ("Expect", "200-ok"),
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Content-Encoding", "gzip"),
        ("Cookie", f"sessionid={CANARY}"),
        ("X-Forwarded-Proto", "https"),
        (CANARY, "x" * 20_000),
        ("", "no name"),
        ("Bad Name", "x"),
        ("Folded", "a\r\n b"),
    ]
    headers = [*rng.sample(given, rng.randint(0, 3)), *rng.sample(odd, rng.randint(1, 4))]
    rng.shuffle(headers)
    return request("POST", _path(rng, session), b"sealed", *headers, length=False)


def _chunked(rng: random.Random, session: str) -> bytes:
    head = request("POST", _path(rng, session), b"", ("Transfer-Encoding", "chunked"), length=False)
    chunks = [b"5\r\nhello\r\n", b"fffffffff\r\n", b"-1\r\n\r\n", b"0\r\n\r\n", b"zz\r\n", b""]
    return head + b"".join(rng.choices(chunks, k=rng.randint(0, 4)))


def _no_http(rng: random.Random, session: str) -> bytes:
    good = request("POST", _path(rng, session), _body(rng))
    noise = bytes(rng.getrandbits(8) for _ in range(200))
    place = rng.randrange(len(good))
    return rng.choice(
        [
            noise,
            good[:place],
            good[:place] + bytes([rng.getrandbits(8)]) + good[place + 1 :],
            good.replace(b"HTTP/1.1", rng.choice([b"HTTP/9.9", b"HTTP/1.0", b"", b"SMTP/1.1"])),
            good.replace(b"Host: 127.0.0.1\r\n", b""),
            good.replace(b"\r\n", b"\n"),
            good.replace(b"Host", rng.choice([b"Host: a\r\nHost", b" Host", b"H\x00st"])),
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + noise,
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ]
    )


_KINDS: tuple[Callable[[random.Random, str], bytes], ...] = (
    _wrong_method, _wrong_path, _wrong_json, _wrong_headers, _chunked, _no_http,
)  # fmt: skip
