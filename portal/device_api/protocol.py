"""uvicorn's HTTP with a short way for devices: python -m uvicorn … --http <this>:DeviceProtocol.

Nearly every request of a device is plain, and arrives whole. Then there is nothing to wait for but
the queue, and neither the full reader, nor a task, nor a future is needed: it is answered as soon
as it is read, or as soon as the queue has it. Requests may be sent ahead; their answers come in
order. What is unusual (a body in pieces, a spelling that is not plain, a device that does not read,
an answer that takes a question to the database, anything that is refused) goes through ASGI like
all else: without this class nothing is different but the time it takes.

It is imported before Django is set up.
"""

from asyncio import AbstractEventLoop
from collections import deque
from typing import Any

from uvicorn.config import Config
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import STATUS_LINE
from uvicorn.server import ServerState

from portal.device_api.patience import PatientProtocol
from portal.device_api.plain import Plain, plain_request

# Requests of one connection that may be under way at a time; further ones are read later.
MOST_AHEAD = 64
# Bytes of answers that are kept to be written together; then it shows whether anybody reads them.
MOST_KEPT = 1 << 16


class _Turn:
    """The place of one request in the order of answers."""

    __slots__ = ("said",)

    def __init__(self) -> None:
        self.said: bytes | None = None


class DeviceProtocol(PatientProtocol):
    # Whether the full reader is amid a request.
    _is_amid = False
    # It was told to stop, and does once everyone is answered.
    _is_ending = False
    # When the short way was last taken, by the loop's time.
    _used = 0.0
    # It reads requests, of which some are answered at once, and writes when it has read them.
    _is_reading = False
    # It will write at the loop's next turn.
    _will_write = False
    # Bytes of answers that are not written yet.
    _kept = 0

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._proxy = self.app if isinstance(self.app, ProxyHeadersMiddleware) else None
        # Of `portal.device_api.application.DeviceApi`, if that is what is served.
        take = getattr(self._proxy.app if self._proxy else self.app, "take", None)
        self._take = None if self.root_path or self.limit_concurrency else take
        # Requests on the short way, the oldest first; and what came after them and is not.
        self._turns: deque[_Turn] = deque()
        self._rest = b""
        # Answers that are not written yet: to write costs more than the bytes do.
        self._unsent: list[bytes] = []

    def data_received(self, data: bytes) -> None:
        if self._rest:
            self._rest += data
        elif self._is_free():
            self._go_on(data)
        else:
            super().data_received(data)

    def _is_free(self) -> bool:
        """Whether what comes is the beginning of a request, and nobody goes the usual way."""
        is_done = self.cycle is None or self.cycle.response_complete
        return is_done and not self._is_amid and self._take is not None

    def _go_on(self, data: bytes) -> None:
        at, self._used, self._is_reading = 0, self.loop.time(), True
        if self._timer is not None:
            self._stop_waiting()
        try:
            while at < len(data) and (request := self._next(data, at)) is not None:
                at = request.end
        finally:
            self._is_reading = False
            self._write()
        if self.timeout_keep_alive_task is None:
            self._watch(self.timeout_keep_alive)
        if at == len(data):
            return
        if self._turns:
            self._rest = data[at:]
            self.flow.pause_reading()
        else:
            super().data_received(data[at:] if at else data)

    def _next(self, data: bytes, at: int) -> Plain | None:
        """The request that begins there, if it is on its short way now."""
        if len(self._turns) >= MOST_AHEAD or self._kept >= MOST_KEPT:
            return None
        if self.flow.write_paused or self._is_ending:
            return None
        request = plain_request(data, at)
        return request if request is not None and self._is_taken(request) else None

    def _is_taken(self, request: Plain) -> bool:
        method, path, headers, _ = request.head
        scope = {
            "type": "http", "method": method, "path": path, "headers": headers,
            "scheme": self.scheme, "client": self.client,
        }  # fmt: skip
        if self._proxy is not None:
            _note_scheme(scope, self._proxy)
        assert self._take is not None  # noqa: S101 - else nothing comes here
        turn = _Turn()
        self._turns.append(turn)
        if self._take(scope, request.body, self._answer, turn):
            return True
        self._turns.pop()
        return False

    def _answer(self, turn: _Turn, status: int, lines: bytes, body: bytes) -> None:
        """Called once for each, in any order; `lines` are its headers."""
        head = STATUS_LINE[status] + self._usual_lines() + lines
        turn.said = b"%b\r\n%b" % (head, body)
        self._kept += len(turn.said)
        if self.transport.is_closing():
            return
        turns = self._turns
        while turns and (said := turns[0].said) is not None:
            turns.popleft()
            self.server_state.total_requests += 1
            self._unsent.append(said)
        is_full = len(self._unsent) >= MOST_AHEAD or self._kept >= MOST_KEPT
        if is_full or not (turns or self._is_reading):
            self._write()
        elif turns and self._unsent and not self._will_write:
            self._will_write = True
            self.loop.call_soon(self._write)
        if not turns:
            self._conclude()

    def _write(self) -> None:
        """All answers so far. Others who wait may be answered in the same turn of the loop."""
        self._will_write = False
        said = b"".join(self._unsent)
        self._unsent.clear()
        self._kept -= len(said)
        if said and not self.transport.is_closing():
            self.transport.write(said)

    def _conclude(self) -> None:
        """All are answered: stop, or take up what came after them."""
        if self._is_ending:
            self._write()
            self.transport.close()
        elif self._rest:
            data, self._rest = self._rest, b""
            self.flow.resume_reading()
            self.data_received(data)

    def _usual_lines(self) -> bytes:
        """What uvicorn says each time, such as the date: the same for a second."""
        global _usual  # noqa: PLW0603 - one for all connections
        headers = self.server_state.default_headers
        if _usual[0] is not headers:
            _usual = (headers, b"".join([b"%b: %b\r\n" % header for header in headers]))
        return _usual[1]

    # What the usual way has to know of the short one

    def on_message_begin(self) -> None:
        self._is_amid = True
        super().on_message_begin()

    def on_message_complete(self) -> None:
        self._is_amid = False
        super().on_message_complete()

    def eof_received(self) -> None:
        self._write()  # the connection is closed next
        super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._turns.clear()
        self._unsent.clear()
        self._rest = b""
        super().connection_lost(exc)

    def shutdown(self) -> None:
        if self._turns:
            self._is_ending = True
        else:
            super().shutdown()

    def _watch(self, seconds: float) -> None:
        """One timer for many requests: it looks when the last one was."""
        handler = self.timeout_keep_alive_handler
        self.timeout_keep_alive_task = self.loop.call_later(seconds, handler)

    def timeout_keep_alive_handler(self) -> None:
        left = self._used + self.timeout_keep_alive - self.loop.time()
        if left > 0 or self._turns:
            self._watch(max(left, 1.0))
        else:
            super().timeout_keep_alive_handler()


_usual: tuple[object, bytes] = (None, b"")


def _note_scheme(scope: Any, proxy: ProxyHeadersMiddleware) -> None:
    """As uvicorn's own middleware has it: what a proxy of ours says counts, and nobody else."""
    client = scope["client"]
    if (client[0] if client else None) in proxy.trusted_hosts:
        said = dict(scope["headers"]).get(b"x-forwarded-proto", b"").decode("latin-1").strip()
        if said in ("http", "https", "ws", "wss"):
            scope["scheme"] = said
