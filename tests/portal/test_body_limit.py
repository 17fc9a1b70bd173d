"""Bodies that are too long are refused before they are read, with and without a declared length."""

import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from portal.body_limit import BodyLimit


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    """Reads everything, then answers with how much it was; gives up when the caller hangs up."""
    read, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        read += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(read).encode()})


@async_to_sync
async def ask(
    *parts: bytes, path: str = "/login", length: bytes | None = None
) -> tuple[int, str, int]:
    """The answer's status and body, and how many parts of the request were read."""
    sent: list[Any] = []
    waiting = list(parts)

    async def receive() -> Any:
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [] if length is None else [(b"content-length", length)]
    scope = {"type": "http", "path": path, "headers": headers}
    await BodyLimit(_echo, most=10)(scope, receive, send)
    start, body = sent
    return start["status"], body["body"].decode(), len(parts) - len(waiting)


def test_it_works():
    assert ask(b"12345", b"67890", length=b"10") == (200, "10", 2)
    assert ask(b"") == (200, "0", 1)


def test_a_declared_length_is_refused_before_a_byte_is_read():
    status, body, read = ask(b"12345", b"678901", length=b"11")
    assert (status, read) == (413, 0)
    assert "at most 10 bytes" in body


def test_a_body_without_a_length_is_cut_off():
    status, _, read = ask(b"12345", b"678901", b"never read")
    assert (status, read) == (413, 2)


@pytest.mark.parametrize("length", [b"-1", b"ten", b""])
def test_a_length_that_is_no_number_is_not_believed(length):
    assert ask(b"12345678901", length=length)[0] == 413


def test_programs_get_the_error_shape():
    _, body, _ = ask(b"", path="/api/v1/specs/compile", length=b"11")
    assert json.loads(body)["error"]["code"] == "too_long"
