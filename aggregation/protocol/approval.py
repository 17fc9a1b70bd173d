"""The approval: what a second person agreed to, signed, so that every device can check it.

Two people stand behind each client task that runs on a phone. The bytes that are signed name the
content by its three hashes, both people by opaque ids, and the moment. A device pins the public
key, verifies, and refuses windows that began before that moment: whoever can write to the
server's database, but does not hold the key, cannot make a phone run anything, nor anything
earlier. The ids are different, or there is no approval to sign.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from aggregation.errors import Problem

# No other signature of ours begins so: one made for another purpose never passes for an approval.
_PURPOSE: Final = b"mayfly approval 1\n"


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """One revision's approval. Made with `approval_of`, so that it is well formed."""

    spec: str
    client_task: str
    server_config: str
    # Opaque: they tell two people apart and say nothing about either.
    author: str
    approver: str
    # UTC with microseconds, such as 2026-11-16T12:00:00.000000Z.
    approved_at: str

    def signed_bytes(self) -> bytes:
        """What the signature is over: a fixed line, then canonical JSON."""
        return _PURPOSE + msgspec.json.encode(self, order="sorted")

    @property
    def moment(self) -> datetime:
        return datetime.strptime(self.approved_at, _FORM).replace(tzinfo=UTC)


_FORM: Final = "%Y-%m-%dT%H:%M:%S.%fZ"


def approval_of(
    *,
    spec: str,
    client_task: str,
    server_config: str,
    author: str,
    approver: str,
    approved_at: datetime,
) -> Approval:
    if author == approver:
        raise Problem("The author of a revision cannot approve it.", hint="A second person has to.")
    return Approval(
        spec=_checked("spec", spec),
        client_task=_checked("client task", client_task),
        server_config=_checked("server config", server_config),
        author=author,
        approver=approver,
        approved_at=approved_at.astimezone(UTC).strftime(_FORM),
    )


def sign(approval: Approval, key: Ed25519PrivateKey) -> bytes:
    return key.sign(approval.signed_bytes())


def is_signed(approval: Approval, signature: bytes, key: Ed25519PublicKey) -> bool:
    """Whether two different people agreed to exactly this, and the holder of the key says so."""
    if approval.author == approval.approver:
        return False
    try:
        key.verify(signature, approval.signed_bytes())
    except InvalidSignature:
        return False
    return True


def key_id(key: Ed25519PublicKey) -> str:
    """The first 16 hex digits of the public key's hash: which key to check with."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:16]


def _checked(what: str, sha256: str) -> str:
    if len(sha256) != 64 or set(sha256) - set("0123456789abcdef"):
        raise Problem(f"{sha256[:80]!r} is no hash of a {what}.", hint="It has 64 hex digits.")
    return sha256
