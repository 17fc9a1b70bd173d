"""Requests to the device API that are wrong in one or several ways, made of one that is right.

The same seed gives the same faults for any two servers, whatever their sessions and keys are.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from aggregation.protocol.tokens import token
from tests.portal.device_api.bad_requests import CANARY, bad_request
from tests.portal.device_api.raw_http import request

CHECK_IN = request("POST", "/device/v1/check-in", b'{"version":1,"population":"DE"}')


@dataclass(frozen=True)
class Target:
    """A server's session that takes updates, one that does not, and what its tokens are made of."""

    session: str
    over: str
    key: bytes

    def upload(
        self, rng: random.Random, *, session: str = "", signed: str = "", more: str = ""
    ) -> bytes:
        """A good one, unless its session or the one its token is for is another."""
        session = session or self.session
        update = f"{rng.getrandbits(64):016x}"
        secret = token(self.key, session=signed or session, update=update)
        headers = [("Mayfly-Update", update), ("Mayfly-Token", secret)]
        if more:
            headers.append(("Note", more))
        body = bytes(rng.getrandbits(8) for _ in range(40))
        return request("POST", f"/device/v1/sessions/{session}/updates", body, *headers)


Kind = Callable[[random.Random, Target], bytes]


def wrong_request(rng: random.Random, target: Target) -> bytes:
    return rng.choice(KINDS)(rng, target)


def _good(rng: random.Random, target: Target) -> bytes:
    return target.upload(rng) if rng.random() < 0.5 else CHECK_IN


def _mutated(rng: random.Random, target: Target) -> bytes:
    raw = bytearray(_good(rng, target))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(raw))
        odd = rng.choice([b"\r", b"\n", b"\r\n", b"\0", b" ", b"\t", b":", b"\xff", b"%", b"0"])
        way = rng.randrange(4)
        if way == 0:
            raw[at] = rng.getrandbits(8)
        elif way == 1:
            raw[at:at] = odd
        elif way == 2:
            raw[at : at + rng.randint(1, 9)] = b""
        else:
            raw[at:at] = raw[at : at + rng.randint(1, 60)]
    return bytes(raw)


def _cut(rng: random.Random, target: Target) -> bytes:
    raw = _good(rng, target)
    return raw[: rng.randrange(len(raw))]


def _lying(rng: random.Random, target: Target) -> bytes:
    raw = _good(rng, target)
    declared = raw.partition(b"Content-Length: ")[2].partition(b"\r\n")[0]
    lies = [b"0", b"1", b"39", b"41", b"00" + declared, b"+" + declared, b"-1", b"4e1", b"0x28",
            b"40, 40", b" 40", b"40 ", b"9" * 20, b"", b"\x0b40", b"4_0"]  # fmt: skip
    return raw.replace(b"Content-Length: " + declared, b"Content-Length: " + rng.choice(lies))


def _both_lengths(rng: random.Random, target: Target) -> bytes:
    odd = rng.choice(["chunked", "Chunked", "chunked, identity", "x", " chunked", "chunked\x0b"])
    head, _, body = _good(rng, target).partition(b"\r\n\r\n")
    chunks = rng.choice(
        [body, b"0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n", b"5;a=b\r\nhello\r\n0\r\n\r\n"]
    )
    return head + b"\r\nTransfer-Encoding: " + odd.encode() + b"\r\n\r\n" + chunks + CHECK_IN


def _ahead(rng: random.Random, target: Target) -> bytes:
    """Several in one go, good and bad ones mixed."""
    kinds: tuple[Kind, ...] = (_good, _good, _strange_token, _mutated, _lying)
    return b"".join(rng.choice(kinds)(rng, target) for _ in range(rng.randint(2, 5)))


def _strange_token(rng: random.Random, target: Target) -> bytes:
    other = f"{rng.getrandbits(128):032x}"
    return rng.choice(
        [
            target.upload(rng, signed=other),
            target.upload(rng, session=other, signed=target.session),
            target.upload(rng, session=target.over),
            target.upload(rng, session=target.session.upper(), signed=target.session),
            target.upload(rng).replace(b"Mayfly-Token: ", b"Mayfly-Token: 0"),
            target.upload(rng).replace(b"Mayfly-Update", b"Mayfly-Updates"),
            target.upload(rng) + target.upload(random.Random(7)) + target.upload(random.Random(7)),
        ]
    )


def _odd_spelling(rng: random.Random, target: Target) -> bytes:
    raw = target.upload(rng, more=f"{CANARY} a b")
    old, new = rng.choice(
        [
            (b"POST /", b"POST http://127.0.0.1/"),
            (b"POST ", b"post "),
            (b"POST ", b" POST "),
            (b"POST ", b"\r\n\r\nPOST "),
            (b"POST ", b"POST  "),
            (b"HTTP/1.1", b"HTTP/1.0"),
            (b"HTTP/1.1", b"http/1.1"),
            (b" HTTP/1.1", b""),
            (b"Host: ", b"Host:"),
            (b"Host: ", b"Host :"),
            (b"Host: ", b"Host:\t"),
            (b"Host: 127.0.0.1", b"Host: 127.0.0.1 "),
            (b"Host: 127.0.0.1", b"Host: 127.0.0.1\r\nhost: 127.0.0.1"),
            (b"Host: 127.0.0.1", b"Host: 127.0.0.1:99999"),
            (b"Host: 127.0.0.1\r\n", b""),
            (b"Note: ", b"Note: \r\n "),
            (b"Note: ", b"Connection: close\r\nNote: "),
            (b"Note: ", b"Connection: Mayfly-Token\r\nNote: "),
            (b"Note: ", b"Upgrade: h2c\r\nConnection: Upgrade\r\nNote: "),
            (b"Note: ", b"Expect: 100-continue\r\nNote: "),
            (b"Note: ", b"Content-Length: 40\r\nNote: "),
            (b"Note: ", b"Content-Length: 41\r\nNote: "),
            (b"Note: ", b"X-Forwarded-Proto: https\r\nNote: "),
            (b"Note: ", b"N\xc3\xb6te: "),
            (b"Note: ", b"Note: \xc3\xb6"),
            (b"Note: ", b"Note: " + b"x" * rng.choice([190, 201, 2000, 30_000])),
            (b"Note: ", b"a: b\r\n" * rng.choice([18, 21, 500]) + b"Note: "),
            (b"/updates", b"/updates?a=b"),
            (b"/updates", b"/updates#a"),
            (b"/updates", b"/%75pdates"),
            (b"/updates", b"/updates/"),
            (b"/updates", b"/./updates"),
            (b"\r\n", b"\n"),
            (b"\r\n\r\n", b"\r\n\n"),
            (b"\r\n\r\n", b"\n\r\n"),
        ]
    )
    return raw.replace(old, new) if old == b"\r\n" else raw.replace(old, new, 1)


def _anything(rng: random.Random, target: Target) -> bytes:
    return bad_request(rng, target.session)


KINDS: tuple[Kind, ...] = (
    _good, _mutated, _mutated, _cut, _lying, _both_lengths, _ahead, _strange_token, _odd_spelling,
    _odd_spelling, _anything,
)  # fmt: skip
