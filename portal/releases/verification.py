"""Checking a release: both signatures, the approval, the stored numbers, and every file."""

from pathlib import Path

from aggregation.errors import Problem
from aggregation.release.manifest import Check, read_manifest, verify
from aggregation.release.noised import Noised
from portal.releases.models import Release
from portal.releases.rendering import folder_of
from portal.releases.signing import is_card_signed, read_card, release_public_key
from portal.tasks.signing import approval_public_key


def checks_of(release: Release) -> list[Check]:
    """Everything that can be checked of a release, in sentences. Needs the whole row."""
    checks = [_card(release), _numbers(release)]
    if not hasattr(release, "rendering"):
        return [*checks, Check("files", False, "The files of this release are not made yet.")]
    raw = release.rendering.manifest.encode()
    manifest = read_manifest(raw)
    same = manifest.card == read_card(release.card)
    sentence = "The manifest has this card." if same else "The manifest has another card."
    checks.append(Check("manifest", same, sentence))
    folder = folder_of(release)
    there = {name: folder / name for name in manifest.files if (folder / name).exists()}
    checks += verify(
        raw,
        bytes.fromhex(release.rendering.signature),
        key=release_public_key(),
        approval_key=approval_public_key(),
        files=there,
    )
    return checks + _missing(manifest.files, there)


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
