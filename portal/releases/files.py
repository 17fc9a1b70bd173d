"""The files of a release as they are served: exactly the bytes that were signed for, or none."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from aggregation.release.publish import PREFIX
from portal.releases.models import Release
from portal.releases.rendering import MANIFEST, file_hashes, folder_of, is_same

_ENDING = ".parquet"


@dataclass(frozen=True)
class TableFile:
    """One table of a release, by the name of its file without the ending."""

    name: str
    path: Path
    sha256: str

    @property
    def is_emissions(self) -> bool:
        return self.name.startswith(PREFIX)

    @property
    def title(self) -> str:
        """`Every cell`, `By country and activity`, `In all`."""
        stem = self.name.removeprefix(PREFIX)
        fixed = {"cells": "Every cell", "total": "In all"}
        return fixed.get(stem) or "By " + _and(stem.removeprefix("by-").split("-"))

    @property
    def keys(self) -> int:
        stem = self.name.removeprefix(PREFIX)
        return {"cells": 99, "total": 0}.get(stem, stem.count("-"))

    @property
    def file(self) -> str:
        return self.name + _ENDING


def table_files(release: Release) -> list[TableFile]:
    """All tables, the total first and every cell last; emissions after the others."""
    folder = folder_of(release)
    found = [
        TableFile(name.removesuffix(_ENDING), folder / name, sha256)
        for name, sha256 in file_hashes(release.rendering).items()
    ]
    return sorted(found, key=lambda one: (one.is_emissions, one.keys, one.name))


def is_intact(file: TableFile) -> bool:
    """Whether the file on disk is the one that was signed for; looked at once per version of it.

    One that is not is given up, so that the heartbeat makes it again.
    """
    try:
        stat = file.path.stat()
    except FileNotFoundError:
        intact = False
    else:
        version = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        intact = _is_intact(file.path, version, file.sha256)
    if not intact:
        file.path.with_name(MANIFEST).unlink(missing_ok=True)
    return intact


@lru_cache(maxsize=1024)
def _is_intact(path: Path, version: tuple[int, int, int], sha256: str) -> bool:
    return is_same(path, sha256)


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
