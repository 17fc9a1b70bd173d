"""Messages: the JSON of the device API's calls, one type per body.

The server refuses a request with a field it does not know, so that a slip is noticed. A device
ignores fields of an answer that it does not know, so that the server can learn to say more. No
message has a place for anything that tells one device from another.
"""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta

from aggregation.errors import Problem
from aggregation.protocol.approval import Approval
from aggregation.protocol.client_task import Eligibility, Schedule
from aggregation.protocol.windows import Unit

VERSION: Final = 1
# Bytes of a request's body; updates have their own limit.
MAX_REQUEST: Final = 4096
# Tasks that one request for assignments may name.
MAX_WANTED: Final = 16

Population = Annotated[str, Meta(min_length=1, max_length=64)]
TaskName = Annotated[str, Meta(min_length=1, max_length=64)]
Sha256 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
SessionId = Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")]
UpdateId = Annotated[str, Meta(pattern=r"\A[0-9a-f]{16}\Z")]
Key = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Signature = Annotated[str, Meta(pattern=r"\A[0-9a-f]{128}\Z")]
Token = Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")]
Seconds = Annotated[int, Meta(ge=0)]


class Active(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Said once per install: the feature is on. Counted by population, nothing else is kept."""

    version: int
    population: Population


class CheckIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is there to do?"""

    version: int
    population: Population


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A task with open windows, and when a device need not run it."""

    task: TaskName
    client_task: Sha256
    window_unit: Unit
    # Ids of windows that have ended and whose grace is not over, oldest first.
    windows: tuple[str, ...]
    eligibility: Eligibility
    schedule: Schedule


class NextCheckIn(msgspec.Struct, frozen=True, kw_only=True):
    """The device draws its delay evenly from this span of civil seconds."""

    min_seconds: Seconds
    max_seconds: Seconds


class Offers(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a check-in."""

    tasks: tuple[Offer, ...]
    next_check_in: NextCheckIn


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    task: TaskName
    client_task: Sha256


class AssignmentRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The tasks that this device is eligible for and ready to run now."""

    version: int
    population: Population
    tasks: Annotated[tuple[Wanted, ...], Meta(min_length=1, max_length=MAX_WANTED)]


class Assigned(msgspec.Struct, frozen=True, kw_only=True, tag="assigned", tag_field="kind"):
    """One update for one session, and all that a device verifies before it makes it."""

    task: TaskName
    client_task: Sha256
    # Where the client task's own bytes are.
    address: str
    approval: Approval
    # Ed25519 over the approval, and the id of the key that it is checked with.
    signature: Signature
    key_id: str
    session: SessionId
    # X25519, and the worker's Ed25519 signature over it.
    public_key: Key
    session_signature: Signature
    update: UpdateId
    token: Token
    windows: tuple[str, ...]


class TurnedAway(msgspec.Struct, frozen=True, kw_only=True, tag="turned_away", tag_field="kind"):
    """Not now: why, and after how many civil seconds to ask again."""

    task: TaskName
    client_task: Sha256
    reason: str
    retry_seconds: Seconds


class Assignments(msgspec.Struct, frozen=True, kw_only=True):
    """One per task asked for, in that order."""

    assignments: tuple[Assigned | TurnedAway, ...]


class SessionOpen(msgspec.Struct, frozen=True, tag="open", tag_field="state"):
    """Nothing is decided yet; the same bytes may be sent again, nothing else."""


class SessionOver(msgspec.Struct, frozen=True, kw_only=True, tag="over", tag_field="state"):
    """The last word: these windows of the update are counted; others that are still open are not,
    and never will be. Of windows whose release has begun it says nothing."""

    counted: tuple[str, ...]


Status = SessionOpen | SessionOver


class Code(StrEnum):
    """What went wrong, for programs."""

    BAD_REQUEST = "bad_request"
    WRONG_VERSION = "wrong_version"
    UNKNOWN_POPULATION = "unknown_population"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    SESSION_OVER = "session_over"
    LENGTH_REQUIRED = "length_required"
    TOO_LARGE = "too_large"
    TOO_SLOW = "too_slow"
    BAD_TOKEN = "bad_token"  # noqa: S105 - the name of an error
    BUSY = "busy"
    UNAVAILABLE = "unavailable"
    WRONG_HOST = "wrong_host"
    HTTPS_NEEDED = "https_needed"
    FAILED = "failed"


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence of what is wrong, one of what to do about it."""

    code: str
    message: str
    hint: str = ""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The body of every answer that is not a success."""

    error: Fault


class WrongVersion(Problem):
    """A request in a version of the protocol that is not spoken here."""


class _Versioned(msgspec.Struct, frozen=True):
    """What a request of any version has."""

    version: int


Request = TypeVar("Request", Active, CheckIn, AssignmentRequest)
Answer = TypeVar("Answer", Offers, Assignments, Failure)


def read_request(kind: type[Request], body: bytes) -> Request:
    """A device's request; a `Problem` says what is wrong with it, a `WrongVersion` which it is."""
    if len(body) > MAX_REQUEST:
        raise Problem(f"The body has {len(body):,} bytes, more than {MAX_REQUEST:,}.")
    try:
        request: Request = _decoder(kind).decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        _refuse_other_version(body)
        raise Problem(f"The body is not the request asked for: {error}.", hint=_DOCS) from None
    _check_version(request.version)
    return request


def read_answer(kind: type[Answer], body: bytes) -> Answer:
    """A server's answer, on the device."""
    answer: Answer = _read(kind, body)
    return answer


def read_status(body: bytes) -> Status:
    """The server's word on one update, on the device."""
    status: Status = _read(Status, body)
    return status


def write(message: msgspec.Struct) -> bytes:
    """Compact JSON."""
    return msgspec.json.encode(message)


def _refuse_other_version(body: bytes) -> None:
    """A request of another version may look different in everything else."""
    with suppress(msgspec.DecodeError, ValueError, RecursionError):
        _check_version(_decoder(_Versioned).decode(body).version)


def _check_version(version: int) -> None:
    if version != VERSION:
        message = f"This server speaks version {VERSION} of the device protocol, not {version}."
        raise WrongVersion(message, hint=_DOCS) from None


def _read(kind: Any, body: bytes) -> Any:
    try:
        return _decoder(kind).decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise Problem("The server's answer is not one that this protocol knows.") from None


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


_DOCS: Final = "The requests are described at /docs/device-protocol."
