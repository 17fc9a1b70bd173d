"""`POST /device/v1/sessions/{session}/updates`: a sealed update into the session's queue.

202 means that the queue has it, and nothing else does. What is inside is sealed to the session:
nothing here can read it, and no answer depends on it.

There are two ways to the same queue, with the same checks. `upload` awaits a body that may take its
time. `upload_at_once` has the whole body already, as nearly always, and spares what waiting costs.
"""

from collections.abc import Callable

from aggregation.protocol.messages import Code
from aggregation.protocol.sealing import MAX_SEALED
from portal.device_api.answers import Answer, Later, Refusal, busy
from portal.device_api.appending import Reply
from portal.device_api.outage import Away
from portal.device_api.pacing import retry_after
from portal.device_api.parts import Parts
from portal.device_api.requests import Request
from portal.device_api.snapshot import Place

_ACCEPTED = Answer(202)
# Machine seconds over which devices are spread that found no room in this process.
_CROWDED_SECONDS = 10.0


async def upload(parts: Parts, request: Request, session: str) -> Answer:
    update, place, length = _checked(parts, request, session)
    try:
        body = await request.body(length, parts.stalls)
        reply = await parts.appender.append(place.queue, update + body)
    finally:
        parts.room.give_back(length)
    return _concluded(parts, place, reply)


def upload_at_once(
    parts: Parts,
    request: Request,
    body: bytes,
    tell: Callable[[Answer | Exception], None],
    session: str,
) -> Later:
    """It is being appended, and `tell` will be called."""
    update, place, length = _checked(parts, request, session)
    request.note_read(length)

    def conclude(reply: Reply) -> None:
        parts.room.give_back(length)
        try:
            tell(reply if isinstance(reply, Away) else _concluded(parts, place, reply))
        except Refusal as refusal:
            tell(refusal)

    try:
        parts.appender.append_and_tell(place.queue, update + body, conclude)
    except Away:
        parts.room.give_back(length)
        raise
    return Later.LATER


def _checked(parts: Parts, request: Request, session: str) -> tuple[bytes, Place, int]:
    """All that is known before the body: the update's id, its place and its length.

    There is room for it, which has to be given back.
    """
    update = _checked_update(parts, request, session)
    place = _place(parts, session)
    request.population = place.population
    length = request.length(place.most)
    if (after := parts.pressure.retry_after(place.queue)) is not None:
        raise busy(retry_after=after)
    if length > _longest(parts) or not parts.room.take(length):
        raise busy(retry_after=retry_after(parts.rng, over_seconds=_CROWDED_SECONDS))
    return update, place, length


def _concluded(parts: Parts, place: Place, reply: int) -> Answer:
    if reply > parts.pressure.most:
        parts.pressure.note(place.queue, reply)
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


def _longest(parts: Parts) -> int:
    """An update longer than those of all open tasks is of one that is over, or that this process
    has not heard of: it takes no room, and is not refused for good."""
    view = parts.snapshots.latest
    return view.longest if view else MAX_SEALED


def _place(parts: Parts, session: str) -> Place:
    view = parts.snapshots.latest
    known = view.places.get(session) if view else None
    return known or Place.of(session, None)
