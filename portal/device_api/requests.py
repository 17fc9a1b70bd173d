"""Reading requests: headers that count, bodies capped before they are read."""

import sys
from asyncio import current_task
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar

from aggregation.errors import Problem
from aggregation.protocol import messages
from aggregation.protocol.messages import MAX_REQUEST, Code
from portal.body_limit import Receive, Scope
from portal.device_api.answers import Refusal
from portal.device_api.stalls import STALLED, Stalls

# Headers that decide something: given twice, it would be open which one was meant.
_SINGLE = (b"host", b"content-length", b"mayfly-update", b"mayfly-token")

Kind = TypeVar("Kind", messages.Active, messages.CheckIn, messages.AssignmentRequest)


class HungUp(Exception):
    """The device is gone; there is nobody to answer."""


class Request:
    # Whether the whole body was read.
    is_read = False
    # Whose it is counted as, once that is known.
    population = ""
    _body_size = 0

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self._receive = receive

    def refuse_repeated_headers(self) -> None:
        names = [name for name, _ in self.scope["headers"]]
        for name in _SINGLE:
            if names.count(name) > 1:
                raise Refusal(422, Code.BAD_REQUEST, f"{name.decode()} is given more than once.")

    def length(self, most: int) -> int:
        """What Content-Length says: needed, and refused above the cap before a byte is read."""
        value = self.headers.get(b"content-length", b"")
        # Only what is short is remembered: a stranger's header may be of any length.
        length = _known_number(value) if len(value) <= _DIGITS else _number(value)
        if length > most:
            raise Refusal(413, Code.TOO_LARGE, f"At most {most} bytes are read here.")
        return length

    async def body(self, length: int, stalls: Stalls) -> bytes:
        """The whole body, of the length that was declared; one that stalls is given up."""
        task: Any = current_task(stalls.loop)
        stalls.reading[task] = stalls.looks
        try:
            message = await self._receive()
            # Nearly always the first message is the whole body, and nothing is copied.
            body: bytes = message.get("body", b"")
            while message.get("more_body") and len(body) <= length:
                message = await self._receive()
                body += message.get("body", b"")
        finally:
            if stalls.reading.pop(task) == STALLED:
                task.uncancel()
                late = f"The body took longer than {stalls.seconds:g} s."
                raise Refusal(408, Code.TOO_SLOW, late, "Send it again.") from None
        if message["type"] == "http.disconnect":
            raise HungUp
        if len(body) > length:
            raise Refusal(413, Code.TOO_LARGE, "The body is longer than its Content-Length.")
        self.note_read(length)
        return body

    def note_read(self, length: int) -> None:
        self.is_read = True
        self._body_size = length

    async def message(self, kind: type[Kind], stalls: Stalls) -> Kind:
        return self.read(kind, await self.body(self.length(MAX_REQUEST), stalls))

    def read(self, kind: type[Kind], body: bytes) -> Kind:
        """The message that a body is."""
        try:
            found = messages.read_request(kind, body)
        except messages.WrongVersion as problem:
            raise Refusal(422, Code.WRONG_VERSION, problem.message, problem.hint) from None
        except Problem as problem:
            raise Refusal(422, Code.BAD_REQUEST, problem.message, problem.hint) from None
        self.note_read(len(body))
        return found

    def size(self) -> int:
        """Bytes of what was read: the path, the headers and the body."""
        headers = self.scope["headers"]
        size = sum(map(len, chain.from_iterable(headers))) + 4 * len(headers)
        return len(self.scope["path"]) + size + self._body_size

    def has_body(self) -> bool:
        declared = self.headers.get(b"content-length", b"0")
        return declared != b"0" or b"transfer-encoding" in self.headers


# More than any cap has.
_DIGITS = 10


def _number(value: bytes) -> int:
    if not value:
        raise Refusal(411, Code.LENGTH_REQUIRED, "The request has no Content-Length.", "Send it.")
    if not value.isdigit():
        raise Refusal(400, Code.BAD_REQUEST, "Content-Length is no whole number.")
    # More digits are not read: that would take long.
    return int(value) if len(value) <= _DIGITS else sys.maxsize


# Updates have few lengths.
_known_number = lru_cache(maxsize=1024)(_number)
