"""How far the log has come, remembered outside the database, so that an older one is noticed.

A backup that was put back, or a replica that was behind when it took over, has forgotten what
happened since. It would release windows that were released already, to devices that were counted
already, and spend again what is spent. So the end of the log is also written to a file in the key
folder, which is in no backup: at every heartbeat and after every release. A database whose log
lacks that entry has forgotten something: nothing is collected, released or approved with it until
an operator has accepted what that means (`portal.collection.restoring`).

What was committed after the last heartbeat, a moment before the database was lost, is not seen
here: whoever puts back a backup says so in any case.
"""

import os
import secrets
from datetime import datetime
from pathlib import Path

import msgspec
from django.conf import settings

from portal.audit.models import Entry
from portal.problems import Conflict

FILE = "witness.json"
BEHIND = "This database has forgotten some of what this system has done"


class Mark(msgspec.Struct, frozen=True):
    """An entry of the log that was there."""

    seq: int
    hash: str
    # Machine time.
    at: datetime


def remember() -> None:
    """Write down the end of the log, if it is further than it was; never that of an older one."""
    newest, known = Entry.objects.order_by("-seq").first(), _known()
    if newest is None or (known and known.seq >= newest.seq) or is_behind():
        return
    _write(_mark_of(newest))


def is_behind() -> bool:
    """Whether the log lacks an entry that was there."""
    known = _known()
    return known is not None and not Entry.objects.filter(seq=known.seq, hash=known.hash).exists()


def forgotten_since() -> datetime | None:
    """The civil time of the newest entry that is no younger than what is remembered: whatever was
    written after the backup was put back is."""
    known, entries = _known(), Entry.objects.order_by("-seq")
    found = entries.filter(at__lte=known.at) if known else entries
    return found.values_list("civil_at", flat=True).first()


def refuse_behind() -> None:
    if is_behind():
        raise Conflict(
            f"{BEHIND}: it was put back from a backup, or is another one.",
            hint="An operator puts this right: see Restoring on the page on operations.",
        )


def begin_anew() -> None:
    """What this database says is what counts from now on. Its operator has said so."""
    _write(_mark_of(Entry.objects.latest("seq")))


def _mark_of(entry: Entry) -> Mark:
    return Mark(entry.seq, entry.hash, entry.at)


def _known() -> Mark | None:
    try:
        return msgspec.json.decode(_path().read_bytes(), type=Mark)
    except FileNotFoundError:
        return None


def _write(mark: Mark) -> None:
    fresh = _path().with_name(f"{FILE}.{secrets.token_hex(8)}.new")
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(msgspec.json.encode(mark))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(_path())


def _path() -> Path:
    return Path(settings.KEYS_DIR) / FILE
