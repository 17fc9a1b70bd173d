"""The manifest: the guarantee card and the hashes of all files, signed, checkable by anyone.

What is signed is a fixed line and then the manifest's own bytes, so that openssl alone can repeat
the check. With the files `manifest.json`, `manifest.sig` (64 bytes) and the public key in PEM:

    (printf 'mayfly release 1\\n'; cat manifest.json) > signed.bin
    openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed.bin -sigfile manifest.sig
    openssl dgst -sha256 cells.parquet          # is it the hash under "files"?

Whoever can write to the database or to the files, but does not hold the key, cannot change a
number, the ε it was released under, or who approved it, without this failing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from aggregation.errors import Problem
from aggregation.protocol.approval import is_signed
from aggregation.release.card import GuaranteeCard

# No other signature of ours begins so: one made for another purpose never passes for a release.
_PURPOSE: Final = b"mayfly release 1\n"


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One release: what is guaranteed, and which files it is."""

    version: int = 1
    card: GuaranteeCard
    # File name → SHA-256 in hex.
    files: dict[str, str]

    def canonical(self) -> bytes:
        """The one spelling: JSON, sorted fields, no spaces. This is `manifest.json`."""
        return msgspec.json.encode(self, order="sorted")


def sign(manifest: Manifest, key: Ed25519PrivateKey) -> bytes:
    return key.sign(_PURPOSE + manifest.canonical())


def read_manifest(raw: bytes) -> Manifest:
    """The manifest of these bytes, which must be its one spelling."""
    try:
        manifest = msgspec.json.decode(raw, type=Manifest)
    except msgspec.DecodeError:
        manifest = None
    if manifest is None or manifest.canonical() != raw:
        raise Problem("This is not the manifest of a release.", hint="Take `manifest.json` as is.")
    return manifest


def public_pem(key: Ed25519PublicKey) -> bytes:
    """The public key as openssl reads it."""
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@dataclass(frozen=True)
class Check:
    """One thing that was checked: what, whether it holds, and a sentence about it."""

    what: str
    holds: bool
    sentence: str


def verify(
    raw: bytes,
    signature: bytes,
    *,
    key: Ed25519PublicKey,
    approval_key: Ed25519PublicKey | None = None,
    files: Mapping[str, Path | bytes] | None = None,
) -> list[Check]:
    """Every check of a release that can be made with what is given."""
    checks = [_signature(raw, signature, key)]
    manifest = read_manifest(raw)
    if approval_key is not None:
        checks.append(_approval(manifest.card, approval_key))
    given = dict(files or {})
    for name, sha256 in sorted(manifest.files.items()):
        if name in given:
            checks.append(_file(name, sha256, given.pop(name)))
    checks += [
        Check(name, False, f"{name} is not a file of this release.") for name in sorted(given)
    ]
    return checks


def is_manifest_signed(raw: bytes, signature: bytes, key: Ed25519PublicKey) -> bool:
    try:
        key.verify(signature, _PURPOSE + raw)
    except InvalidSignature:
        return False
    return True


def is_approval_signed(card: GuaranteeCard, key: Ed25519PublicKey) -> bool:
    try:
        signature = bytes.fromhex(card.approval_signature)
    except ValueError:
        return False
    return is_signed(card.approval, signature, key)


def _signature(raw: bytes, signature: bytes, key: Ed25519PublicKey) -> Check:
    if is_manifest_signed(raw, signature, key):
        return Check("signature", True, "The manifest is signed with this key.")
    return Check("signature", False, "The signature is not of these bytes and this key.")


def _approval(card: GuaranteeCard, key: Ed25519PublicKey) -> Check:
    if is_approval_signed(card, key):
        return Check("approval", True, "Two different people stand behind the task.")
    return Check("approval", False, "The approval is not signed with this key.")


def _file(name: str, sha256: str, content: Path | bytes) -> Check:
    if isinstance(content, bytes):
        found = hashlib.sha256(content).hexdigest()
    else:
        with content.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    if found == sha256:
        return Check(name, True, f"{name} is the file that was signed for.")
    return Check(name, False, f"{name} has the hash {found}, but {sha256} was signed for.")
