"""Sealing: an update readable by one session only, for this task and under this update id only.

HPKE (RFC 9180) in base mode, with X25519, HKDF-SHA256 and AES-128-GCM; one message per
encapsulated key. What the update belongs to is bound into HPKE's `info`: a sealed update moved to
another task, session or update id does not open. The private key is made by the session and lives
in its worker's memory: when the session ends, nobody can open what was sealed to it, whatever was
recorded on the way.

    sealed = encapsulated key (32 bytes) ‖ ciphertext (as long as the plain bytes) ‖ tag (16 bytes)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from aggregation.errors import Problem
from aggregation.protocol.ids import raw_client_task, raw_session, raw_update
from aggregation.protocol.refusal import BadUpdate, Reason
from aggregation.protocol.update import MAX_LENGTH, Shape, length, most_windows

# The encapsulated key and the tag.
OVERHEAD: Final = 32 + 16
# No upload is longer, whatever the task: front ends refuse it before they read it.
MAX_SEALED: Final = MAX_LENGTH + OVERHEAD

_SUITE: Final = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
_UPDATE: Final = b"mayfly update 1\n"
_HAND_OVER: Final = b"mayfly hand-over 1\n"

# The raw bytes of an update's id, and what was sealed under it.
SealedUpdate = tuple[bytes, bytes]
# Gives the plain bytes of each, or nothing for one that does not open.
Opener = Callable[[Sequence[SealedUpdate]], list[bytes | None]]
# `open_with` in other memory: that of children of this process, which keep nothing of it.
Helper = Callable[[bytes, bytes, Sequence[SealedUpdate]], list[bytes | None]]


def sealed_length(shape: Shape, windows: int) -> int:
    """The length of every sealed update of a task with this many windows."""
    return length(shape, windows) + OVERHEAD


def max_sealed(shape: Shape) -> int:
    """The length of the longest upload a task can have."""
    return sealed_length(shape, most_windows(shape))


def seal(plain: bytes, *, public: bytes, client_task: str, session: str, update: str) -> bytes:
    """An update's bytes, for the holder of this session's private key."""
    info = _update_info(client_task=client_task, session=session, update=update)
    return _seal(plain, public, info)


def seal_state(
    plain: bytes, *, public: bytes, from_session: str, to_session: str, window_id: str
) -> bytes:
    """A session's state of one window, for its successor: handed over in memory only."""
    return _seal(plain, public, _hand_over_info(from_session, to_session, window_id))


class SessionKeys:
    """The key pair of one session. It is never stored, printed, copied or pickled.

    Only an opener with a helper gives the private key on, to the memory of our own children.
    """

    __slots__ = ("_private", "public")

    def __init__(self, private: X25519PrivateKey) -> None:
        self._private = private
        # 32 raw bytes, for devices.
        self.public = private.public_key().public_bytes_raw()

    @classmethod
    def fresh(cls) -> SessionKeys:
        return cls(X25519PrivateKey.generate())

    def open(self, sealed: bytes, *, client_task: str, session: str, update: str) -> bytes:
        """The plain bytes of an update sealed to this session, else `BadUpdate`."""
        info = _update_info(client_task=client_task, session=session, update=update)
        return self._open(sealed, info)

    def opener(self, *, client_task: str, session: str, helper: Helper | None = None) -> Opener:
        """`open` for many updates of this session: what they have in common is prepared once."""
        info = _UPDATE + raw_client_task(client_task) + raw_session(session)
        private = self._private
        if helper is None:
            return lambda batch: _opened_each(batch, private, info)
        return lambda batch: helper(private.private_bytes_raw(), info, batch)

    def open_state(
        self, sealed: bytes, *, from_session: str, to_session: str, window_id: str
    ) -> bytes:
        """The plain bytes of a state handed over to this session, else `BadUpdate`."""
        return self._open(sealed, _hand_over_info(from_session, to_session, window_id))

    def _open(self, sealed: bytes, info: bytes) -> bytes:
        plain = _opened(sealed, self._private, info)
        if plain is None:
            raise BadUpdate(Reason.CANNOT_OPEN)
        return plain

    def __repr__(self) -> str:
        return "SessionKeys(withheld)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A session's keys are not copied or pickled: they live in one memory.")


def open_with(private: bytes, info: bytes, batch: Sequence[SealedUpdate]) -> list[bytes | None]:
    """For helpers: what an opener does, with the key and the beginning of `info` given."""
    return _opened_each(batch, X25519PrivateKey.from_private_bytes(private), info)


def _opened_each(
    batch: Sequence[SealedUpdate], private: X25519PrivateKey, info: bytes
) -> list[bytes | None]:
    return [_opened(sealed, private, info + update) for update, sealed in batch]


def _opened(sealed: bytes, private: X25519PrivateKey, info: bytes) -> bytes | None:
    try:
        return _SUITE.decrypt(sealed, private, info=info)
    except (InvalidTag, ValueError):
        return None


def _seal(plain: bytes, public: bytes, info: bytes) -> bytes:
    try:
        return _SUITE.encrypt(plain, _public_key(public), info=info)
    except ValueError:
        raise Problem(
            "This is not a public key that anything can be sealed to.",
            hint="A session's key is 32 bytes, a point of X25519 of full order.",
        ) from None


@lru_cache(maxsize=256)
def _public_key(public: bytes) -> X25519PublicKey:
    """Many devices seal to one session; each with an ephemeral key of its own."""
    return X25519PublicKey.from_public_bytes(public)


def _update_info(*, client_task: str, session: str, update: str) -> bytes:
    return _UPDATE + raw_client_task(client_task) + raw_session(session) + raw_update(update)


def _hand_over_info(from_session: str, to_session: str, window_id: str) -> bytes:
    return _HAND_OVER + raw_session(from_session) + raw_session(to_session) + window_id.encode()
