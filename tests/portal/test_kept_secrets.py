"""Secrets in files: whole or not there, and made by nobody who only looks."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from portal import kept_secrets

NAME = "approval-key"


@pytest.fixture
def keys(settings: Any, tmp_path: Path) -> Path:
    settings.KEYS_DIR = tmp_path / "keys"
    settings.KEYS_DIR.mkdir(mode=0o700)
    return tmp_path / "keys"


@contextmanager
def full_disk() -> Iterator[None]:
    """No file gets longer than 16 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def names(keys: Path) -> list[str]:
    return sorted(path.name for path in keys.iterdir())


def test_nothing_is_left_of_a_key_that_did_not_fit(keys: Path) -> None:
    with pytest.raises(OSError, match="File too large"), full_disk():
        kept_secrets.kept_secret(NAME)
    assert names(keys) == []
    assert len(kept_secrets.kept_secret(NAME)) == 32


def test_a_rotation_that_did_not_fit_leaves_everything_as_it_was(keys: Path) -> None:
    old = kept_secrets.kept_secret(NAME)
    kept_secrets.announce(NAME)
    with pytest.raises(OSError, match="File too large"), full_disk():
        kept_secrets.rotate(NAME)
    assert names(keys) == [NAME, f"{NAME}.next"]
    assert kept_secrets.kept_secret(NAME) == old


def test_a_key_that_is_rotated_while_others_look_is_not_made_again(
    keys: Path, monkeypatch: Any
) -> None:
    """Whoever looks finds it, and the next moment it is in the old one's place."""
    kept_secrets.kept_secret(NAME)
    old = public_halves()
    kept_secrets.announce(NAME)
    rotations: list[object] = []

    def interrupted(look: Callable[[Path], Any]) -> Callable[[Path], Any]:
        def looked(path: Path) -> Any:
            found = look(path)
            if path.name == f"{NAME}.next" and not rotations:
                rotations.append(None)
                rotations.append(kept_secrets.rotate(NAME))
            return found

        return looked

    for look in ("exists", "read_bytes"):
        monkeypatch.setattr(Path, look, interrupted(getattr(Path, look)))
    found = public_halves()
    monkeypatch.undo()
    assert len(rotations) == 2
    assert names(keys) == [NAME, f"{NAME}.earlier"]
    assert found == public_halves() > old


def public_halves() -> set[bytes]:
    return {key.public_bytes_raw() for key in kept_secrets.trusted_keys(NAME)}
