"""`GET /device/v1/client-tasks/{sha256}`: the canonical bytes themselves, the same for ever."""

from functools import lru_cache

from aggregation.protocol.ids import is_client_task
from aggregation.protocol.messages import Code
from portal.device_api.answers import Answer, Refusal
from portal.device_api.client_tasks import MOST_KEPT
from portal.device_api.parts import Parts
from portal.device_api.requests import Request

_HEADERS = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"public, max-age=31536000, immutable"),
    (b"x-content-type-options", b"nosniff"),
)


async def client_task(parts: Parts, request: Request, sha256: str) -> Answer:
    if not is_client_task(sha256):
        raise Refusal(422, Code.BAD_REQUEST, "This is not the address of a client task.")
    body = parts.client_tasks.kept(sha256)
    # Only what is open is looked up: a stranger's hashes cost no question.
    if body is None and sha256 in parts.snapshots.current().client_tasks:
        body = await parts.client_tasks.read(sha256)
    if body is None:
        raise Refusal(404, Code.NOT_FOUND, "No open task has this client task.", "Check in again.")
    return _answer(body)


def client_task_at_once(
    parts: Parts, _request: Request, _body: bytes, _tell: object, sha256: str
) -> Answer | None:
    """If it is kept here, and so was asked for before."""
    body = parts.client_tasks.kept(sha256)
    return None if body is None else _answer(body)


@lru_cache(maxsize=MOST_KEPT)
def _answer(body: bytes) -> Answer:
    return Answer(200, body, _HEADERS)
