"""Keys of partials: a folder outside the database and its backups, whose files are erased.

A deleted row stays in heap pages, write-ahead logs, replicas and backups for an unknown time. A
partial is therefore only as long-lived as its key, and the key is one file of 32 random bytes
that exists nowhere else: unlinking it erases every copy of every partial sealed with it. Keys are
per (task, window, level, UTC day), so that erasing one takes nothing else with it, and so that
the keys of a level can go as soon as its partials have been merged into the next.

Several processes may ask for the same new key at once: each writes a file of its own and links it
to the key's name, the first one wins, and all of them read back what is there. A process killed
in between leaves its own file behind; erasing a key takes such files along, because the one that
won holds the same bytes as the key.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final, NoReturn

from aggregation.errors import Problem

_SECRET_BYTES: Final = 32
_TASK: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?")
_WINDOW: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2})?")
_FILE: Final = re.compile(r"([^.]+)\.([^.]+)\.([0-9]+)\.([0-9]{4}-[0-9]{2}-[0-9]{2})")
# How often a new key may be erased under the hands of the one who asked for it.
_ATTEMPTS: Final = 20


@dataclass(frozen=True, order=True)
class KeyName:
    """Which partials a key seals."""

    task: str
    window_id: str
    level: int
    # UTC, civil: the day on which the partials are sealed.
    day: date

    def __post_init__(self) -> None:
        named = _TASK.fullmatch(self.task) and _WINDOW.fullmatch(self.window_id)
        if not named or self.level < 1:
            raise Problem(
                f"No key is called {self.file[:200]!r}.",
                hint="It has a task's name, a window's id, a level from 1 on, and a day.",
            )

    @property
    def file(self) -> str:
        return f"{self.task}.{self.window_id}.{self.level}.{self.day.isoformat()}"

    def __str__(self) -> str:
        return f"level {self.level} of {self.task}, window {self.window_id}, {self.day.isoformat()}"


@dataclass(frozen=True)
class PartialKey:
    """A key in memory: never printed, copied or pickled."""

    name: KeyName
    secret: bytes = field(repr=False)

    @property
    def id(self) -> bytes:
        """Names the key in an envelope; says nothing about it, for it is a hash of 256 bits."""
        return hashlib.sha256(b"mayfly partial key 1\n" + self.secret).digest()[:16]

    def __reduce__(self) -> NoReturn:
        raise TypeError("A key is not copied or pickled: it lives in its file and in one memory.")


class KeyFolder:
    """The folder of keys, for this user alone."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.stat().st_mode & 0o077:
            raise Problem(
                f"The key folder {path.name} can be read by others.",
                hint=f"Take their rights away: chmod 700 {path}",
            )

    def for_sealing(self, name: KeyName) -> PartialKey:
        """The key of this name, made now if there is none."""
        for _ in range(_ATTEMPTS):
            if (secret := self._read(name)) is not None:
                return PartialKey(name, secret)
            self._make(name)
        raise Problem(
            f"The key for {name} is erased every time it is made.",
            hint="Partials are sealed before their window's keys are erased, not after.",
        )

    def for_opening(self, name: KeyName) -> PartialKey:
        secret = self._read(name)
        if secret is None:
            raise Problem(
                f"The key for {name} has been erased, and with it everything that it sealed.",
                hint="This is meant to be: nobody can read those partials again.",
            )
        return PartialKey(name, secret)

    def erase(self, name: KeyName) -> bool:
        """Whether there was such a key. When this returns, it is gone from the disk for good."""
        found = False
        for file in os.listdir(self._path):
            if file == name.file or file.startswith(f"{name.file}."):
                with suppress(FileNotFoundError):
                    (self._path / file).unlink()
                    found |= file == name.file
        self._sync()
        return found

    def names(self) -> tuple[KeyName, ...]:
        """All keys that there are, in order."""
        found = (_FILE.fullmatch(file) for file in os.listdir(self._path))
        return tuple(
            sorted(KeyName(m[1], m[2], int(m[3]), date.fromisoformat(m[4])) for m in found if m)
        )

    def _read(self, name: KeyName) -> bytes | None:
        try:
            secret = (self._path / name.file).read_bytes()
        except FileNotFoundError:
            return None
        if len(secret) != _SECRET_BYTES:
            raise Problem(
                f"The key file {name.file} is damaged: it has {len(secret)} bytes, not 32.",
                hint="Restore it from where you keep keys; its partials are lost without it.",
            )
        return secret

    def _make(self, name: KeyName) -> None:
        """Write a key of our own and offer it; both files are durable before it is used."""
        fresh = self._path / f"{name.file}.{secrets.token_hex(8)}.new"
        with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(secrets.token_bytes(_SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        # Another process was first, or an erasure took ours along: either way, look again.
        with suppress(FileExistsError, FileNotFoundError):
            os.link(fresh, self._path / name.file)
        fresh.unlink(missing_ok=True)
        self._sync()

    def _sync(self) -> None:
        """Names made and removed are on the disk when this returns."""
        with _descriptor(self._path) as folder:
            os.fsync(folder)

    def __repr__(self) -> str:
        return "KeyFolder(contents withheld)"


@contextmanager
def _descriptor(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
