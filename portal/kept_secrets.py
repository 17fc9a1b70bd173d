"""Secrets in files outside the database and its backups, made once and kept.

Those that sign can be rotated in two steps. The next key is announced: devices and readers learn
its public half while the old one still signs. Then it takes the old one's place, whose public half
stays for what it has signed.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings

from aggregation.errors import Problem

_BYTES = 32
# The folder of the keys of partials.
PARTIALS = "partials"


class KeyGone(FileNotFoundError):
    """A key is not in the key folder, and nothing but people can put it back."""


class KeyDamaged(Problem):
    """The same of one that is no key any more."""


def kept_secret(name: str) -> bytes:
    """32 random bytes in a file of the key folder, for us alone. The demo makes what is not there.

    In production a key that is gone stays gone until somebody puts it back, or says that it is
    lost: with another in its place devices would refuse everything, and nobody would see why.
    """
    if settings.DEMO:
        return made_secret(name)
    path = _path(name)
    try:
        return _whole(path)
    except FileNotFoundError:
        refuse_empty_folder()
        raise KeyGone(f"The key folder {path.parent} has no {name}: put it back.") from None


def made_secret(name: str) -> bytes:
    """The secret, made if it is not there; the first of several wins."""
    path = _path(name)
    if not path.exists():
        _make(path)
    return _whole(path)


def trusted_keys(name: str) -> list[Ed25519PublicKey]:
    """What a signature of this name is checked with: the key that signs now, the one that is
    announced as the next, and earlier ones, of which nothing but the public half is left.

    The next one is read first, and the earlier ones last: a rotation in between takes none away.
    """
    announced = []
    with suppress(FileNotFoundError):
        announced = [_public(_whole(_next(name)))]
    found = [_public(kept_secret(name)), *announced]
    if _earlier(name).exists():
        lines = _earlier(name).read_text().split()
        found += [Ed25519PublicKey.from_public_bytes(bytes.fromhex(line)) for line in lines]
    return found


def announce(name: str) -> Ed25519PublicKey:
    """Make the next key, and publish its public half before anything is signed with it."""
    return _public(made_secret(_next(name).name))


def forget_announced(name: str) -> None:
    """Whoever has copied the key may have copied the next one, which lies beside it."""
    _next(name).unlink(missing_ok=True)


def rotate(name: str, *, trust_earlier: bool = True) -> Ed25519PublicKey:
    """Sign with the announced key from now on. The private half of the old one is gone for good.

    Its public half stays, so that what it has signed still holds; unless somebody else may have
    it. It is kept before the new key takes its place: a crash in between leaves nothing in doubt.
    """
    if not _next(name).exists():
        raise Problem(
            f"No next {name} is announced, so devices would not know it.",
            hint="Announce it, give devices time to learn of it, then rotate.",
        )
    old = _public(kept_secret(name)).public_bytes_raw().hex()
    known = _earlier(name).read_text().split() if _earlier(name).exists() else []
    kept = list(dict.fromkeys([*known, old])) if trust_earlier else []
    write_whole(_earlier(name), "".join(f"{line}\n" for line in kept).encode())
    _next(name).replace(_path(name))
    _sync(_path(name).parent)
    return _public(kept_secret(name))


def write_whole(path: Path, content: bytes) -> None:
    """Readers find what was there or all of this, also after a loss of power."""
    with _fresh(path, content) as fresh:
        fresh.replace(path)


def _path(name: str) -> Path:
    return Path(settings.KEYS_DIR) / name


def _next(name: str) -> Path:
    return _path(f"{name}.next")


def _earlier(name: str) -> Path:
    return _path(f"{name}.earlier")


def _public(secret: bytes) -> Ed25519PublicKey:
    return Ed25519PrivateKey.from_private_bytes(secret).public_key()


def _whole(path: Path) -> bytes:
    found = path.read_bytes()
    if len(found) != _BYTES:
        raise KeyDamaged(
            f"The key file {path.name} is damaged: it has {len(found)} bytes instead of 32.",
            hint="Restore it from where you keep keys; nothing can be approved or sent without it.",
        )
    return found


@contextmanager
def _fresh(path: Path, content: bytes) -> Iterator[Path]:
    """A file of our own beside this one, on the disk. Nothing is left of it, whatever happens."""
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
    try:
        with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield fresh
    finally:
        fresh.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Names that were changed are on the disk when this returns."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def refuse_empty_folder() -> None:
    """Production's keys are made once, by `make_keys`. A folder without what that leaves there is
    not mounted just now: a key made in its place would be lost, or trust nothing of the others."""
    folder = Path(settings.KEYS_DIR)
    if not settings.DEMO and not (folder / PARTIALS).is_dir():
        raise KeyGone(f"The key folder {folder} is empty: is it mounted?")


def _make(path: Path) -> None:
    refuse_empty_folder()
    with _fresh(path, secrets.token_bytes(_BYTES)) as fresh, suppress(FileExistsError):
        os.link(fresh, path)
