"""`POST /device/v1/sessions/{session}/updates`: a sealed update into the session's queue.

202 means that the queue has it, and nothing else does. What is inside is sealed to the session:
nothing here can read it, and no answer depends on it.
"""

from aggregation.protocol.messages import Code
from portal.device_api.answers import Answer, Refusal, busy
from portal.device_api.pacing import retry_after
from portal.device_api.parts import Parts
from portal.device_api.requests import Request
from portal.device_api.snapshot import Place

_ACCEPTED = Answer(202)
# Machine seconds over which devices are spread that found no room in this process.
_CROWDED_SECONDS = 10.0


async def upload(parts: Parts, request: Request, session: str) -> Answer:
    update = _checked_update(parts, request, session)
    place = _place(parts, session)
    request.population, queue = place.population, place.queue
    length = request.length(place.most)
    if (after := parts.pressure.retry_after(queue)) is not None:
        raise busy(retry_after=after)
    if not parts.room.take(length):
        raise busy(retry_after=retry_after(parts.rng, over_seconds=_CROWDED_SECONDS))
    try:
        body = await request.body(length, parts.stalls)
        reply = await parts.appender.append(queue, update + body)
    finally:
        parts.room.give_back(length)
    if reply > parts.pressure.most:
        parts.pressure.note(queue, reply)
    if not reply:
        message = "This session takes no more updates."
        raise Refusal(410, Code.SESSION_OVER, message, "Ask for the update's status.")
    return _ACCEPTED


def _checked_update(parts: Parts, request: Request, session: str) -> bytes:
    """The update id as bytes; one answer for a wrong token and for ids that are none."""
    headers = request.headers
    token, update = headers.get(b"mayfly-token", b""), headers.get(b"mayfly-update", b"")
    checked = parts.tokens.update_of(token, session, update)
    if checked is None:
        message = "Mayfly-Token is not the token of this session and update."
        hint = "Send session, update and token as they were assigned."
        raise Refusal(422, Code.BAD_TOKEN, message, hint)
    return checked


def _place(parts: Parts, session: str) -> Place:
    view = parts.snapshots.latest
    known = view.places.get(session) if view else None
    return known or Place.of(session, None)
