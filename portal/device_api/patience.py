"""Connections that ask for too much: heads without an end, requests that never come, floods.

uvicorn reads a head of any length, waits for the rest of a request for ever, takes in whatever is
sent ahead while an answer is on its way, and keeps for ever what nobody reads: whoever can reach
the port could fill the memory with one connection, or hold thousands of them. So each request has
a length and a time in which it has to arrive, each answer a time in which it has to be read, and
only so many requests may be sent ahead. What is usual, a request that is here as a whole, costs two
comparisons.

It is imported before Django is set up.
"""

from asyncio import Transport
from asyncio.events import TimerHandle
from collections import deque
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

# At a time: a flood of small requests is seen before all of it is taken in.
_SLICE = 1 << 16


class PatientProtocol(HttpToolsProtocol):
    # Machine seconds in which a request has to be here, with its body. As long may answers wait to
    # be read, once there are 64 kB of them or the connection ends with them.
    arrival_seconds: ClassVar[float] = 60.0
    # Bytes: cookies, a token and a long address take a tenth of it.
    longest_head: ClassVar[int] = 1 << 16
    # What follows the chunks of a body counts as well.
    most_headers: ClassVar[int] = 1000
    # The longest body that is read anywhere, sent in chunks of a few bytes.
    longest_request: ClassVar[int] = 8_000_000
    # Requests sent ahead; browsers and phones send none.
    most_ahead: ClassVar[int] = 64

    _timer: TimerHandle | None = None
    # It runs while answers wait to be read.
    _unread: TimerHandle | None = None
    # The request that is counted, by its scope, and what has come of it since it was first seen.
    _counted: object = None
    _size = 0

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        # Requests that are not answered yet, the oldest first. uvicorn itself knows the last alone.
        self._unanswered: deque[RequestResponseCycle] = deque()

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        if self.cycle is not None and self.cycle.scope is self.scope:
            self._unanswered.append(self.cycle)

    def on_response_complete(self) -> None:
        self._unanswered.popleft()
        super().on_response_complete()
        if self.transport.is_closing():
            self._wait_for_reader()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.transport.is_closing():
            self._stop_waiting_for_reader()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._wait_for_reader()

    def connection_lost(self, exc: Exception | None) -> None:
        self._answer_nobody()
        self._stop_waiting()
        self._stop_waiting_for_reader()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        if len(data) <= _SLICE:
            super().data_received(data)
            self._look(len(data))
            return
        for start in range(0, len(data), _SLICE):
            if self.transport.is_closing():
                return
            part = data[start : start + _SLICE]
            super().data_received(part)
            self._look(len(part))

    def send_400_response(self, msg: str) -> None:
        """The connection ends here: what was sent ahead of this is answered to nobody."""
        super().send_400_response(msg)
        self._wait_for_reader()
        self._answer_nobody()

    def _answer_nobody(self) -> None:
        """Whatever is at work learns that nobody listens, rather than write to what is closed."""
        for cycle in self._unanswered:
            cycle.disconnected = True
            cycle.message_event.set()

    def _look(self, size: int) -> None:
        cycle = self.cycle
        if len(self.pipeline) > self.most_ahead:
            self._end(b"")
        elif cycle is not None and cycle.scope is self.scope and not cycle.more_body:
            self._stop_waiting()
        elif self._counted is self.scope:
            self._size += size
            self._measure()
        else:
            # What came before may have been other requests.
            self._counted, self._size = self.scope, 0
        # Whatever came, as a blank line that begins no request: something has an eye on the time.
        if not (self._timer or self.timeout_keep_alive_task or self._is_answering()):
            self._wait()

    def _measure(self) -> None:
        in_head = self.cycle is None or self.cycle.scope is not self.scope
        if len(self.headers or ()) > self.most_headers:
            self._end(_refusal(431, "The request has too many headers."))
        elif self._size > (self.longest_head if in_head else self.longest_request):
            self._end(_refusal(431 if in_head else 413, "The request is too long."))

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self.arrival_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        """Unless an answer is on its way: whoever reads a long one may have sent half a request."""
        self._timer = None
        if self._is_answering():
            self._wait()
        else:
            self._end(_refusal(408, "The request took too long to arrive."))

    def _is_answering(self) -> bool:
        cycle = self.cycle
        return cycle is not None and not cycle.more_body and not cycle.response_complete

    def _end(self, answer: bytes) -> None:
        cycle = self.cycle
        begun = cycle is not None and cycle.response_started and not cycle.response_complete
        if not (begun or self.pipeline or self.transport.is_closing()):
            self.transport.write(answer)
        self.transport.close()
        self._wait_for_reader()
        self._answer_nobody()

    def _wait_for_reader(self) -> None:
        """To close a connection is not enough: that waits until all is read."""
        if self._unread is None:
            self._unread = self.loop.call_later(self.arrival_seconds, self.transport.abort)

    def _stop_waiting_for_reader(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


def _refusal(status: int, sentence: str) -> bytes:
    lines = (
        b"content-type: text/plain; charset=utf-8",
        b"content-length: %d" % len(sentence),
        b"connection: close",
        b"",
        sentence.encode(),
    )
    return STATUS_LINE[status] + b"\r\n".join(lines)
