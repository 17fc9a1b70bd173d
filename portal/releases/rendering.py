"""The files of a release: made of its committed row, once, and of nothing else.

Whoever comes first signs for the hashes; that row is final. Everybody else's files have the same
bytes, or are thrown away. Files appear as a whole folder, after their hashes are committed, so
that what is there to be read is what was signed for. Should they be lost, they are made again
and have to come out the same.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.db import IntegrityError, transaction

from aggregation.errors import Problem
from aggregation.release.manifest import Manifest, read_manifest, sign
from aggregation.release.noised import Noised
from aggregation.release.publish import Source, write_files
from portal.releases.failpoints import passed
from portal.releases.grouping import grouping_of
from portal.releases.models import Release, Rendering
from portal.releases.services import recipe_of
from portal.releases.signing import is_card_signed, read_card, release_key

MANIFEST, SIGNATURE, CARD = "manifest.json", "manifest.sig", "card.json"
# Left by a process that died; nobody makes files for so long.
_LEFT_SECONDS = 3600


def render(*, release: Release) -> None:
    """Make the files of a release, if they are not there. Doing it again changes nothing."""
    final = folder_of(release)
    _clear_left(final)
    fresh = final.with_name(f"{final.name}.{uuid4().hex}.new")
    try:
        hashes = write_files(source_of(release), fresh)
        passed("written")
        signed = _signed(release, hashes)
        passed("signed")
        _write_manifest(release, signed, fresh)
        _put(fresh, final, signed)
        passed("rendered")
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def folder_of(release: Release) -> Path:
    window = release.window
    folder = settings.RELEASES_DIR or Path(settings.DATA) / "releases"
    return folder / window.task.name / window.window


def file_hashes(rendering: Rendering) -> dict[str, str]:
    return read_manifest(rendering.manifest.encode()).files


def releases_without_files() -> Iterator[Release]:
    """Those whose folder is gone, though it was there."""
    rows = Release.objects.filter(rendering__isnull=False).defer("noised", "card")
    for release in rows.select_related("window__task"):
        if not (folder_of(release) / MANIFEST).exists():
            yield release


def source_of(release: Release) -> Source:
    """The release as it was committed; anything that was changed since is refused."""
    if not is_card_signed(release.card, release.signature):
        raise Problem(
            f"The card of the {release} is not signed with this system's key.",
            hint="Put back the release key that this system had when it was released.",
        )
    card, noised = read_card(release.card), Noised.decode(bytes(release.noised))
    revision = release.window.revision
    config = hashlib.sha256(revision.server_config_json.encode()).hexdigest()
    if (card.noised, card.server_config) != (noised.sha256, config):
        raise Problem(f"The {release} is not made of what its card names.")
    recipe = recipe_of(revision)
    return Source(
        task=card.task,
        window=release.window.as_window(),
        recipe=recipe,
        noised=noised,
        grouping=grouping_of(recipe),
    )


def _signed(release: Release, hashes: dict[str, str]) -> Rendering:
    """The row that was committed first, whoever wrote it; ours has to be the same."""
    if not Rendering.objects.filter(release=release).exists():
        manifest = Manifest(card=read_card(release.card), files=hashes)
        row = Rendering(
            release=release,
            rendered_at=datetime.now(UTC),
            manifest=manifest.canonical().decode(),
            signature=sign(manifest, release_key()).hex(),
        )
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:
            pass
    found = Rendering.objects.get(release=release)
    if file_hashes(found) != hashes:
        raise Problem(
            f"The files of the {release} come out different from those that were signed.",
            hint="Restore them from a backup, or make them with the version that made them first.",
        )
    return found


def _write_manifest(release: Release, rendering: Rendering, folder: Path) -> None:
    """Beside the files, for whoever takes the folder as it is."""
    (folder / CARD).write_text(release.card)
    (folder / SIGNATURE).write_bytes(bytes.fromhex(rendering.signature))
    (folder / MANIFEST).write_text(rendering.manifest)


def _put(fresh: Path, final: Path, rendering: Rendering) -> None:
    if is_whole(final, file_hashes(rendering)):
        return
    if final.exists():
        shutil.rmtree(final)
    try:
        os.rename(fresh, final)
    except OSError:
        # Somebody else was quicker.
        if not is_whole(final, file_hashes(rendering)):
            raise


def is_whole(folder: Path, hashes: dict[str, str]) -> bool:
    return (folder / MANIFEST).exists() and all(
        is_same(folder / name, sha256) for name, sha256 in hashes.items()
    )


def is_same(path: Path, sha256: str) -> bool:
    """Whether a file has this hash."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except FileNotFoundError:
        return False


def _clear_left(final: Path) -> None:
    for left in final.parent.glob(f"{final.name}.*.new"):
        if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
            shutil.rmtree(left, ignore_errors=True)
