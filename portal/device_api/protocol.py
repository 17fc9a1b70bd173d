"""uvicorn's HTTP with a short way for uploads: python -m uvicorn … --http <this>:DeviceProtocol.

Nearly every upload arrives whole, in one piece. Then there is nothing to wait for but the queue,
and neither a task nor a future is needed: the upload is checked and appended as soon as it is read,
and answered as soon as the queue has it: a fifth less of what an upload costs. What is unusual (a
body in pieces, requests sent ahead, a device that does not read) goes through ASGI like all else:
without this class nothing is different but the time it takes.

It is imported before Django is set up.
"""

from asyncio import AbstractEventLoop
from typing import Any

from uvicorn.config import Config
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import ServerState

from portal.body_limit import Message

_PATH, _END = "/device/v1/sessions/", "/updates"


class DeviceProtocol(HttpToolsProtocol):
    # An upload whose head was read, while what came with it is read; and whether anything is.
    _held: RequestResponseCycle | None = None
    _is_reading = False
    # The last answer as bytes, with what it was made of: nearly all are the same for a second.
    _said: tuple[Message, list[tuple[bytes, bytes]], bytes] | None = None

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
        self._take = getattr(self._proxy.app if self._proxy else self.app, "take", None)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        if self._is_reading and app is self.app and self._is_upload(cycle):
            self._held = cycle
        else:
            super()._start_asgi_task(cycle, app)

    def _is_upload(self, cycle: RequestResponseCycle) -> bool:
        path: str = cycle.scope["path"]
        return (
            self._take is not None
            and path.startswith(_PATH)
            and path.endswith(_END)
            and cycle.scope["method"] == "POST"
            and not cycle.waiting_for_100_continue
            and not self.flow.write_paused
        )

    def on_message_complete(self) -> None:
        super().on_message_complete()
        cycle, self._held = self._held, None
        if cycle is not None and not self._is_taken(cycle):
            super()._start_asgi_task(cycle, self.app)

    def data_received(self, data: bytes) -> None:
        self._is_reading = True
        super().data_received(data)
        self._is_reading = False
        cycle, self._held = self._held, None
        if cycle is not None:  # there is more to come
            super()._start_asgi_task(cycle, self.app)

    def _is_taken(self, cycle: RequestResponseCycle) -> bool:
        scope: Any = cycle.scope
        if self._proxy is not None:
            _note_scheme(scope, self._proxy)
        assert self._take is not None  # noqa: S101 - it was an upload
        taken: bool = self._take(scope, cycle.body, self._answer, cycle)
        return taken

    def _answer(self, cycle: RequestResponseCycle, start: Message, body: Message) -> None:
        """As the cycle's own `send` does with both, without asking each time what is in them."""
        if cycle.disconnected:
            return
        cycle.response_started = cycle.response_complete = True
        head = self._head(start)
        if cycle.keep_alive:
            self.transport.write(head + b"\r\n" + body["body"])
        else:
            self.transport.write(head + b"connection: close\r\n\r\n" + body["body"])
            self.transport.close()
        self.on_response_complete()

    def _head(self, start: Message) -> bytes:
        usual = self.server_state.default_headers
        if self._said is None or self._said[0] is not start or self._said[1] is not usual:
            lines = [b"%b: %b\r\n" % header for header in (*usual, *start["headers"])]
            self._said = (start, usual, b"".join([STATUS_LINE[start["status"]], *lines]))
        return self._said[2]


def _note_scheme(scope: Any, proxy: ProxyHeadersMiddleware) -> None:
    """As uvicorn's own middleware has it: what a proxy of ours says counts, and nobody else."""
    client = scope["client"]
    if (client[0] if client else None) in proxy.trusted_hosts:
        said = dict(scope["headers"]).get(b"x-forwarded-proto", b"").decode("latin-1").strip()
        if said in ("http", "https", "ws", "wss"):
            scope["scheme"] = said
