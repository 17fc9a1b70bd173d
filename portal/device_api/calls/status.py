"""`GET /device/v1/sessions/{session}/updates/{update}`: whether it is decided, and what counts.

A session that the snapshot names is open, or was a moment ago: the device asks again later, and
nothing is lost by that. Everything else is asked of the database, which alone knows what is over.
"""

from aggregation.protocol.ids import is_session_id, is_update_id
from aggregation.protocol.messages import Code, SessionOpen, SessionOver
from portal.collection.selectors import Outcome
from portal.device_api.answers import Answer, Refusal, answer
from portal.device_api.parts import Parts
from portal.device_api.requests import Request

_OPEN = answer(SessionOpen())


async def status(parts: Parts, request: Request, session: str, update: str) -> Answer:
    if not is_session_id(session) or not is_update_id(update):
        raise Refusal(422, Code.BAD_REQUEST, "This is not the address of an update.")
    if parts.snapshots.names_session(session):
        return _OPEN
    found = await parts.fates.of(session)
    if found is None:
        message = "This session is not known, or not any more."
        raise Refusal(404, Code.NOT_FOUND, message, "Give the update up.")
    return _told(found, update)


def status_at_once(
    parts: Parts, _request: Request, _body: bytes, _tell: object, session: str, update: str
) -> Answer | None:
    """If nothing has to be asked of the database."""
    if not is_session_id(session) or not is_update_id(update):
        return None
    if parts.snapshots.names_session(session):
        return _OPEN
    found = parts.fates.kept(session)
    return None if found is None else _told(found, update)


def _told(found: Outcome, update: str) -> Answer:
    counted = found.counted(update)
    return _OPEN if counted is None else answer(SessionOver(counted=counted))
