"""A load generator: many connections, each sending the next upload once the last is answered."""

import asyncio
import time
from collections.abc import Sequence

import uvloop

# An answer's status, and the seconds until it came.
Answers = list[tuple[int, float]]


def send_all(port: int, requests: Sequence[bytes], *, connections: int) -> list[int]:
    """Send every request, over so many connections; the statuses of the answers."""
    return [status for status, _ in send_timed(port, requests, connections=connections)]


def send_timed(port: int, requests: Sequence[bytes], *, connections: int) -> Answers:
    return uvloop.run(_send_all(port, requests, connections))


async def _send_all(port: int, requests: Sequence[bytes], connections: int) -> Answers:
    answers: Answers = []
    shares = [requests[n::connections] for n in range(connections)]
    await asyncio.gather(*(_one_connection(port, share, answers) for share in shares))
    return answers


async def _one_connection(port: int, requests: Sequence[bytes], answers: Answers) -> None:
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    await loop.create_connection(lambda: _Sender(requests, answers, done), "127.0.0.1", port)
    await done


class _Sender(asyncio.Protocol):
    """Answers without a body end at the empty line."""

    def __init__(
        self, requests: Sequence[bytes], answers: Answers, done: "asyncio.Future[None]"
    ) -> None:
        self._left = iter(requests)
        self._answers = answers
        self._done = done
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        self._read += data
        if self._read.endswith(b"\r\n\r\n"):
            self._answers.append((int(self._read[9:12]), time.perf_counter() - self._sent))
            self._read = b""
            self._next()

    def connection_lost(self, _error: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(ConnectionError("The server hung up."))

    def _next(self) -> None:
        request = next(self._left, None)
        if request is None:
            self._done.set_result(None)
            self._transport.close()
        else:
            self._sent = time.perf_counter()
            self._transport.write(request)  # type: ignore[attr-defined]
