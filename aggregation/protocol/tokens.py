"""Assignment tokens: what lets one update into one session's queue.

A token is made with the assignment and checked by any front end from nothing but a key they share:
no look-up, no state. It names no device. It keeps strangers out of the queue and lets a device
send one update per assignment; who may have an assignment is not its matter.
"""

from __future__ import annotations

import hmac
from typing import Final

from aggregation.errors import Problem
from aggregation.protocol.ids import raw_session, raw_update

KEY_BYTES: Final = 32
TOKEN_BYTES: Final = 16

# No other keyed hash of ours begins so.
PURPOSE: Final = b"mayfly token 1\n"


def token(key: bytes, *, session: str, update: str) -> str:
    """The token of this update for this session: 32 hex digits."""
    if len(key) != KEY_BYTES:
        raise Problem(f"A token key has {KEY_BYTES} bytes, this one has {len(key)}.")
    signed = PURPOSE + raw_session(session) + raw_update(update)
    return hmac.digest(key, signed, "sha256")[:TOKEN_BYTES].hex()


def is_token(key: bytes, given: str, *, session: str, update: str) -> bool:
    """Whether this is the token of this update for this session; in constant time.

    The rule as it reads. Front ends check by `portal.device_api.token_check`, which is quicker, and
    which a test holds equal to this.
    """
    try:
        wanted = token(key, session=session, update=update)
    except Problem:
        return False
    # As bytes: text with other than ASCII characters would be an error, not a no.
    return hmac.compare_digest(wanted.encode(), given.encode("utf-8", "surrogatepass"))
