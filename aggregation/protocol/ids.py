"""Ids of the device protocol: lower-case hex of random or hashed bytes, one spelling each."""

from __future__ import annotations

import re
import secrets
from typing import Final

from aggregation.errors import Problem

SESSION_BYTES: Final = 16
UPDATE_BYTES: Final = 8
CLIENT_TASK_BYTES: Final = 32

_FORMS: Final = {
    size: re.compile(f"[0-9a-f]{{{2 * size}}}")
    for size in (SESSION_BYTES, UPDATE_BYTES, CLIENT_TASK_BYTES)
}


def fresh_session_id() -> str:
    return secrets.token_hex(SESSION_BYTES)


def fresh_update_id() -> str:
    """Says nothing about the device: it is random, and made by the server."""
    return secrets.token_hex(UPDATE_BYTES)


def is_session_id(text: str) -> bool:
    return _FORMS[SESSION_BYTES].fullmatch(text) is not None


def is_update_id(text: str) -> bool:
    return _FORMS[UPDATE_BYTES].fullmatch(text) is not None


def is_client_task(text: str) -> bool:
    """Whether this can be the hash of a client task."""
    return _FORMS[CLIENT_TASK_BYTES].fullmatch(text) is not None


def raw_session(text: str) -> bytes:
    return _raw("session", text, SESSION_BYTES)


def raw_update(text: str) -> bytes:
    return _raw("update", text, UPDATE_BYTES)


def raw_client_task(text: str) -> bytes:
    return _raw("client task", text, CLIENT_TASK_BYTES)


def _raw(what: str, text: str, size: int) -> bytes:
    # `bytes.fromhex` alone would take capitals and spaces: other spellings of the same id.
    if _FORMS[size].fullmatch(text) is None:
        raise Problem(
            f"{text[:80]!r} is not the id of a {what}.",
            hint=f"It has {2 * size} lower-case hex digits.",
        )
    return bytes.fromhex(text)
