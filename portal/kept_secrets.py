"""Secrets in files outside the database and its backups, made on first use and kept."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from aggregation.errors import Problem

_BYTES = 32


def kept_secret(name: str) -> bytes:
    """32 random bytes in a file of the key folder, for us alone; the first of several wins."""
    path = Path(settings.KEYS_DIR) / name
    if not path.exists():
        _make(path)
    found = path.read_bytes()
    if len(found) != _BYTES:
        raise Problem(
            f"The key file {path.name} is damaged: it has {len(found)} bytes instead of 32.",
            hint="Restore it from where you keep keys; nothing can be approved or sent without it.",
        )
    return found


def _make(path: Path) -> None:
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(secrets.token_bytes(_BYTES))
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        os.link(fresh, path)
    fresh.unlink()
