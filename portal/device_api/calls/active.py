"""`POST /device/v1/active`: one more device has the feature on; nothing says which."""

from collections.abc import Callable

from aggregation.protocol.messages import Active
from portal.collection.active import counter
from portal.device_api.answers import Answer, Later
from portal.device_api.appending import Reply
from portal.device_api.calls.populations import known
from portal.device_api.outage import Away
from portal.device_api.parts import Parts
from portal.device_api.requests import Request

_NOTED = Answer(204)


async def active(parts: Parts, request: Request) -> Answer:
    asked = await request.message(Active, parts.stalls)
    await parts.appender.add_one(_counter(parts, asked))
    return _NOTED


def active_at_once(
    parts: Parts, request: Request, body: bytes, tell: Callable[[Answer | Exception], None]
) -> Later:
    def conclude(reply: Reply) -> None:
        tell(reply if isinstance(reply, Away) else _NOTED)

    parts.appender.add_one_and_tell(_counter(parts, request.read(Active, body)), conclude)
    return Later.LATER


def _counter(parts: Parts, asked: Active) -> str:
    return counter(known(asked.population, parts.snapshots.current()))
