"""Checking a release: both signatures, the approval, the stored numbers, and every file."""

from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from aggregation.errors import Problem
from aggregation.release.manifest import (
    Check,
    is_approval_signed,
    is_manifest_signed,
    read_manifest,
    verify,
)
from aggregation.release.noised import Noised
from portal.kept_secrets import trusted_keys
from portal.releases.models import Release
from portal.releases.rendering import folder_of
from portal.releases.signing import RELEASE, is_card_signed, read_card
from portal.tasks.signing import APPROVAL


def checks_of(release: Release) -> list[Check]:
    """Everything that can be checked of a release, in sentences. Needs the whole row."""
    checks = [_card(release), _numbers(release)]
    if not hasattr(release, "rendering"):
        return [*checks, Check("files", False, "The files of this release are not made yet.")]
    raw, signature = release.rendering.manifest.encode(), _signature(release)
    manifest = read_manifest(raw)
    same = manifest.card == read_card(release.card)
    sentence = "The manifest has this card." if same else "The manifest has another card."
    checks.append(Check("manifest", same, sentence))
    folder = folder_of(release)
    there = {name: folder / name for name in manifest.files if (folder / name).exists()}
    checks += verify(
        raw,
        signature,
        key=_that_holds(lambda key: is_manifest_signed(raw, signature, key), RELEASE),
        approval_key=_that_holds(lambda key: is_approval_signed(manifest.card, key), APPROVAL),
        files=there,
    )
    return checks + _missing(manifest.files, there)


def _signature(release: Release) -> bytes:
    return bytes.fromhex(release.rendering.signature)


def _that_holds(holds: Callable[[Ed25519PublicKey], bool], name: str) -> Ed25519PublicKey:
    """Of all keys of this name that are trusted the one that signed it; else the one in use."""
    keys = trusted_keys(name)
    return next(filter(holds, keys), keys[0])


def _card(release: Release) -> Check:
    if is_card_signed(release.card, release.signature):
        return Check("card", True, "The guarantee card is signed with this system's key.")
    return Check("card", False, "The guarantee card is not signed with this system's key.")


def _numbers(release: Release) -> Check:
    try:
        found = Noised.decode(bytes(release.noised)).sha256
    except Problem as problem:
        return Check("numbers", False, problem.message)
    if found == read_card(release.card).noised:
        return Check("numbers", True, "The stored numbers are those that the card names.")
    return Check("numbers", False, "The stored numbers are not those that the card names.")


def _missing(files: dict[str, str], there: dict[str, Path]) -> list[Check]:
    gone = sorted(set(files) - set(there))
    return [Check(name, False, f"{name} is not there. It is made again shortly.") for name in gone]
