"""The session's public key, signed by its worker: what a device seals to, and why it may.

A device pins the workers' public key. Whoever sits between the device and the worker, the front
ends and the queue included, cannot put another key in its place and read along. The session and
the client task are signed with the key, so that a key is good for one session of one revision.
"""

from __future__ import annotations

from typing import Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from aggregation.errors import Problem
from aggregation.protocol.ids import raw_client_task, raw_session

PUBLIC_KEY_BYTES: Final = 32

# No other signature of ours begins so: one made for another purpose never passes for this.
_PURPOSE: Final = b"mayfly session 1\n"


def sign_session_key(
    worker_key: Ed25519PrivateKey, *, session: str, client_task: str, public: bytes
) -> bytes:
    """The worker's word that the holder of this X25519 key is this session of this client task."""
    return worker_key.sign(signed_bytes(session=session, client_task=client_task, public=public))


def is_session_key(
    worker_key: Ed25519PublicKey,
    signature: bytes,
    *,
    session: str,
    client_task: str,
    public: bytes,
) -> bool:
    try:
        signed = signed_bytes(session=session, client_task=client_task, public=public)
        worker_key.verify(signature, signed)
    except (Problem, InvalidSignature):
        return False
    return True


def signed_bytes(*, session: str, client_task: str, public: bytes) -> bytes:
    """What the signature is over: a fixed line, then canonical JSON."""
    raw_session(session), raw_client_task(client_task)  # refuse any other spelling
    if len(public) != PUBLIC_KEY_BYTES:
        raise Problem(f"An X25519 public key has {PUBLIC_KEY_BYTES} bytes, not {len(public)}.")
    document = {"client_task": client_task, "public_key": public.hex(), "session": session}
    return _PURPOSE + msgspec.json.encode(document, order="sorted")
