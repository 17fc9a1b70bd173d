"""The ASGI application of the device API: checks, the call, one answer for every failure."""

import asyncio
import logging
import random
import time
from collections.abc import Callable
from typing import Any

from aggregation.protocol.messages import Code
from portal.body_limit import Application, Message, Receive, Scope, Send
from portal.collection.fleet_counts import UNKNOWN
from portal.device_api.answers import Answer, Headers, Refusal, busy, unavailable
from portal.device_api.outage import Away
from portal.device_api.pacing import retry_after
from portal.device_api.parts import Parts
from portal.device_api.records import TooManyQuestions
from portal.device_api.requests import HungUp, Request
from portal.device_api.routing import PREFIX, Route, route
from portal.device_api.transport import Transport
from portal.stopping import watch_signals

logger = logging.getLogger(__name__)

# Machine seconds over which devices are spread that came at a busy moment.
_BUSY_SECONDS = 10.0
_CLOSE: Headers = ((b"connection", b"close"),)

# Takes whom to answer, a status, the lines of its headers, and a body.
Say = Callable[[Any, int, bytes, bytes], None]


async def _nothing() -> Message:
    raise RuntimeError("All of this request was read.")


class DeviceApi:
    """Answers devices itself, and leaves everything else to the application beside it.

    It starts and stops with the server that runs it; before that, devices are told to wait.
    """

    def __init__(self, *, beside: Application) -> None:
        self._beside = beside
        self._parts: Parts | None = None
        self._transport = Transport()
        self._rng = random.SystemRandom()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            other = self._live if scope["type"] == "lifespan" else self._beside
            await other(scope, receive, send)
            return
        request, began, name = Request(scope, receive), time.perf_counter(), UNKNOWN
        try:
            call, names = self._routed(request)
            name = call.name
            if self._parts is None:
                raise unavailable("The device API", retry_after=2)
            answer = await call.do(self._parts, request, *names)
        except HungUp:
            return
        except asyncio.CancelledError:  # the process stops, and this request with it
            answer = unavailable("This server", retry_after=2).answer()
        except Exception as error:
            answer = self._refusal(error).answer()
        is_usual = scope["scheme"] != "https" and request.is_read
        await send(answer.start(() if is_usual else self._further_headers(request)))
        await send(answer.body)
        if self._parts is not None:
            self._parts.tally.call(name, request, answer, began)

    def take(self, scope: Scope, body: bytes, say: Say, to: object) -> bool:
        """The short way for a request that is here as a whole: see `portal.device_api.protocol`.

        Whether it is taken: then `say` is called once, now or a little later, with whom `to` and
        the answer. Else it is to be asked the usual way, which says why.
        """
        parts, began = self._parts, time.perf_counter()
        if parts is None:
            return False
        request = Request(scope, _nothing)

        def tell(found: Answer | Exception) -> None:
            answer = found if isinstance(found, Answer) else self._refusal(found).answer()
            say(to, answer.status, answer.lines(self._transport.headers(scope)), answer.bytes)
            parts.tally.call(name, request, answer, began)

        try:
            call, names = self._routed(request)
            name = call.name
            found = call.at_once(parts, request, body, tell, *names)
        except Exception:
            return False  # nothing has happened yet: the usual way finds the same, and answers
        if isinstance(found, Answer):
            tell(found)
        return found is not None

    async def _live(self, _scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        while message["type"] == "lifespan.startup":
            watch_signals()
            self._parts = Parts.start()
            await send({"type": "lifespan.startup.complete"})
            message = await receive()
        parts, self._parts = self._parts, None
        if parts is not None:
            await parts.stop()
        await send({"type": "lifespan.shutdown.complete"})

    def _routed(self, request: Request) -> Route:
        scope, headers = request.scope, request.headers
        if len(headers) != len(scope["headers"]):
            request.refuse_repeated_headers()
        self._transport.check(scope["scheme"], headers.get(b"host", b""))
        return route(scope["method"], scope["path"])

    def _further_headers(self, request: Request) -> Headers:
        more = self._transport.headers(request.scope)
        # What is left of a body is not waited for: whoever was refused could send it for ever.
        return more if request.is_read or not request.has_body() else (*more, *_CLOSE)

    def _refusal(self, error: Exception) -> Refusal:
        if isinstance(error, Refusal):
            return error
        if isinstance(error, Away):
            after = retry_after(self._rng, over_seconds=error.seconds)
            return unavailable(error.what, retry_after=after)
        if isinstance(error, TooManyQuestions):
            return busy(retry_after=retry_after(self._rng, over_seconds=_BUSY_SECONDS))
        # Without its text, which may hold what was sent.
        logger.error("A call of the device API failed with %s.", type(error).__name__)
        return Refusal(500, Code.FAILED, "This call failed; that is a mistake of ours.")
