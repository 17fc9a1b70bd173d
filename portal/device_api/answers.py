"""Answers to devices: a status, a little JSON, and the same few headers each time."""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import msgspec

from aggregation.protocol import messages
from aggregation.protocol.messages import Code, Failure, Fault
from portal.body_limit import Message
from portal.collection.fleet_counts import OK

Headers = tuple[tuple[bytes, bytes], ...]

_JSON: Headers = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)


class Answer:
    """Made ready once: an answer that is the same each time can be sent many times."""

    def __init__(
        self, status: int, body: bytes = b"", headers: Headers = (), *, outcome: str = OK
    ) -> None:
        self.status = status
        # For counting: `ok`, or the code of an error, and bytes with the headers.
        self.outcome = outcome
        # A 204 has no body, and says nothing of one.
        length = () if status == 204 else ((b"content-length", b"%d" % len(body)),)
        self.headers = (*headers, *length)
        self.bytes = body
        # Its headers as lines, with the further ones they were last made with.
        self._lines: tuple[Headers | None, bytes] = (None, b"")

    @property
    def size(self) -> int:
        lengths = sum(len(name) + len(value) + 4 for name, value in self.headers)
        return len(self.bytes) + lengths

    @cached_property
    def body(self) -> Message:
        return {"type": "http.response.body", "body": self.bytes}

    def start(self, more: Headers = ()) -> Message:
        headers = (*self.headers, *more)
        return {"type": "http.response.start", "status": self.status, "headers": headers}

    def lines(self, more: Headers = ()) -> bytes:
        """The headers as they are sent; further ones are the same for all answers over HTTPS."""
        if self._lines[0] is not more:
            every = (*self.headers, *more)
            self._lines = (more, b"".join([b"%b: %b\r\n" % header for header in every]))
        return self._lines[1]


class Later(Enum):
    """In place of an answer: it comes a little later, once the queue has answered."""

    LATER = "later"


def answer(message: msgspec.Struct) -> Answer:
    return json_bytes(messages.write(message))


def json_bytes(body: bytes) -> Answer:
    return Answer(200, body, _JSON)


# Not frozen: Python writes tracebacks into exceptions.
@dataclass(eq=False)
class Refusal(Exception):
    """Why a request is not done, as it is answered. Never says what is inside an update."""

    status: int
    code: Code
    message: str
    hint: str = ""
    # Machine seconds until it is worth another try.
    retry_after: int | None = None
    headers: Headers = ()

    def answer(self) -> Answer:
        fault = Fault(code=self.code, message=self.message, hint=self.hint)
        headers = (*_JSON, *self.headers)
        if self.retry_after is not None:
            headers = (*headers, (b"retry-after", b"%d" % self.retry_after))
        body = messages.write(Failure(error=fault))
        return Answer(self.status, body, headers, outcome=str(self.code))


def unavailable(what: str, *, retry_after: int) -> Refusal:
    return Refusal(
        503,
        Code.UNAVAILABLE,
        f"{what} cannot be reached at the moment.",
        "Do the same again after Retry-After seconds.",
        retry_after,
    )


def busy(*, retry_after: int) -> Refusal:
    return Refusal(
        429,
        Code.BUSY,
        "There is more to do than can be taken right now.",
        "Do the same again after Retry-After seconds.",
        retry_after,
    )
