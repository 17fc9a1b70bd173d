"""How far the log has come, remembered outside the database, so that an older one is noticed.

A backup that was put back, or a replica that was behind when it took over, has forgotten what
happened since. It would release windows that were released already, to devices that were counted
already, and spend again what is spent. So the end of the log is also written to a file in the key
folder, which is in no backup: at every heartbeat and after every release. A database whose log
lacks that entry has forgotten something: nothing is collected, released or approved with it until
an operator has accepted what that means (`portal.collection.restoring`).

What was committed after the last heartbeat, a moment before the database was lost, is not seen
here: whoever puts back a backup says so in any case.

A file that cannot be read says nothing, so whoever asks is refused, too. So does one that is gone:
whoever has lost the key folder with the database puts back both from copies, and of the file there
is none. The database knows that there was one.
"""

import errno
import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec
from django.conf import settings

from aggregation.errors import Problem
from portal.audit.models import Entry, Head
from portal.kept_secrets import write_whole
from portal.problems import Conflict

log = logging.getLogger(__name__)

FILE, LOCK = "witness.json", "witness.lock"
BEHIND = "This database has forgotten some of what this system has done"
UNKNOWN = "Nobody can tell whether this database has forgotten something"
_GO_ON = (
    "go on as after a restore, with manage.py accept_restore --since: see Restoring on the page on "
    "operations."
)
# Machine time. Who holds the lock writes one small file, or has lost the network.
_LOCKED_WITHIN_SECONDS = 2.0


class Mark(msgspec.Struct, frozen=True):
    """An entry of the log that was there."""

    seq: int
    hash: str
    # Machine time.
    at: datetime


def remember() -> None:
    """Write down the end of the log, if it is further than it was; never that of an older one.

    A disk that takes nothing stops nobody: what was remembered before still holds, and whoever
    asks next tries again.
    """
    newest = Entry.objects.order_by("-seq").first()
    if newest is None or not _is_further(newest):
        return
    try:
        with _alone():
            # Others may have come further meanwhile.
            if _is_further(newest) and not is_behind():
                _write(newest)
                Head.objects.filter(witnessed=False).update(witnessed=True)
    except OSError as error:
        log.error(
            "%s cannot be written (%s): check that its disk has room and that we may write there.",
            FILE,
            error.strerror,
        )


def is_behind() -> bool:
    """Whether the log lacks an entry that was there."""
    known = _known()
    return known is not None and not Entry.objects.filter(seq=known.seq, hash=known.hash).exists()


def trouble() -> str:
    """Why nothing is collected, released or approved, and what to do; empty while all is well."""
    try:
        behind = is_behind()
    except Problem as problem:
        return str(problem)
    restored = "It was put back from a backup: run manage.py accept_restore."
    return f"{BEHIND}. {restored}" if behind else ""


def forgotten_since() -> datetime | None:
    """The civil time of the newest entry that is no younger than what is remembered: whatever was
    written after the backup was put back is. None where nothing is remembered, or nothing that
    can be read: then the log does not tell the one from the other."""
    try:
        known = _known()
    except Problem:
        return None
    entries = Entry.objects.filter(at__lte=known.at) if known else Entry.objects.none()
    return entries.order_by("-seq").values_list("civil_at", flat=True).first()


def refuse_behind() -> None:
    if is_behind():
        raise Conflict(
            f"{BEHIND}: it was put back from a backup, or is another one.",
            hint="An operator puts this right: see Restoring on the page on operations.",
        )


def begin_anew() -> None:
    """What this database says is what counts from now on. Its operator has said so."""
    with _alone():
        _write(Entry.objects.latest("seq"))
        Head.objects.update(witnessed=True)


def _is_further(entry: Entry) -> bool:
    known = _known()
    return known is None or known.seq < entry.seq


def _known() -> Mark | None:
    try:
        return msgspec.json.decode(_path(FILE).read_bytes(), type=Mark)
    except FileNotFoundError:
        if not Head.objects.filter(witnessed=True).exists():
            return None
        raise Conflict(
            f"{UNKNOWN}: {FILE} is not in the key folder any more.",
            hint=f"If another folder is mounted there, mount the right one. Else {_GO_ON}",
        ) from None
    except OSError:
        raise Conflict(
            f"{UNKNOWN}: {FILE} in the key folder cannot be read.",
            hint="Mount the folder, and give this user the right to read it.",
        ) from None
    except ValueError:
        raise Conflict(
            f"{UNKNOWN}: {FILE} in the key folder is damaged.",
            hint=_GO_ON[0].upper() + _GO_ON[1:],
        ) from None


def _write(entry: Entry) -> None:
    write_whole(_path(FILE), msgspec.json.encode(Mark(entry.seq, entry.hash, entry.at)))


@contextmanager
def _alone() -> Iterator[None]:
    """One process of all machines at a time reads, compares and writes."""
    lock = os.open(_path(LOCK), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        _wait_for(lock)
        yield
    finally:
        os.close(lock)


def _wait_for(lock: int) -> None:
    until = time.monotonic() + _LOCKED_WITHIN_SECONDS
    while time.monotonic() < until:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.01)
    raise BlockingIOError(errno.EWOULDBLOCK, f"another process holds {LOCK}")


def _path(name: str) -> Path:
    return Path(settings.KEYS_DIR) / name
