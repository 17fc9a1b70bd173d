"""Storage: one blob, replaced as a whole. Saving it is the phone's one local transaction."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol


class Storage(Protocol):
    def load(self) -> bytes | None: ...

    def save(self, blob: bytes) -> None:
        """All of it or nothing, whenever the phone stops; when this returns, it lasts."""


class MemoryStorage:
    """For phones by the thousand: lives as long as its process."""

    __slots__ = ("_blob",)

    def __init__(self, blob: bytes | None = None) -> None:
        self._blob = blob

    def load(self) -> bytes | None:
        return self._blob

    def save(self, blob: bytes) -> None:
        # A copy of its own length: encoders leave room at the end, a third of a small phone.
        self._blob = memoryview(blob).tobytes()

    def __repr__(self) -> str:
        return "MemoryStorage(contents withheld)"


class FileStorage:
    """A file for its owner alone: written beside, brought to the disk, renamed."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> bytes | None:
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return None

    def save(self, blob: bytes) -> None:
        fresh = self._path.with_name(f"{self._path.name}.new")
        with os.fdopen(os.open(fresh, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
            file.write(blob)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        _bring_to_disk(self._path.parent)


def _bring_to_disk(folder: Path) -> None:
    """The new name, too: else an older state could come back after the power fails."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
