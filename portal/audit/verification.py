"""Checking the chain: every entry has the hash it claims and follows the one before it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import transaction

from portal.audit.models import GENESIS, Entry, Head, Verification


@dataclass(frozen=True)
class Sound:
    """All entries up to this one follow from each other."""

    seq: int
    hash: str


@dataclass(frozen=True)
class Broken:
    """The first place at which the chain does not hold, in words."""

    problem: str


def verify(entries: Iterable[Entry], *, after: Sound) -> Sound | Broken:
    for entry in entries:
        if entry.seq != after.seq + 1:
            return Broken(f"Entry {after.seq + 1} is missing from the audit log.")
        if entry.previous != after.hash:
            return Broken(f"Entry {entry.seq} does not follow from the entry before it.")
        if entry.hash != entry.computed_hash():
            return Broken(f"Entry {entry.seq} has been changed since it was written.")
        after = Sound(entry.seq, entry.hash)
    return after


def verify_log(*, whole: bool) -> Verification:
    """Verify what is new since the last time, or everything; remember and return the result.

    A break once found stays on record until a verification of the whole chain finds none.
    """
    known, _ = Verification.objects.get_or_create(pk=1)
    start = Sound(0, GENESIS) if whole or known.problem else Sound(known.seq, known.hash)
    with transaction.atomic():
        # Entry and head are written together: read them in one transaction.
        head, _ = Head.objects.select_for_update().get_or_create(pk=1)
        newest = Sound(head.seq, head.hash)
    fresh = Entry.objects.filter(seq__gt=start.seq, seq__lte=newest.seq).order_by("seq")
    found = verify(fresh.iterator(chunk_size=2000), after=start)
    if isinstance(found, Sound) and found.seq > newest.seq:
        found = Broken(f"Entries {newest.seq + 1} to {found.seq} were there and have disappeared.")
    elif isinstance(found, Sound) and found != newest:
        found = Broken(f"The audit log ends at entry {found.seq}, but {newest.seq} were written.")
    return _remember(known, found, whole=whole)


def _remember(known: Verification, found: Sound | Broken, *, whole: bool) -> Verification:
    """A break is always kept; "sound" only if no other verification ended meanwhile."""
    now = datetime.now(UTC)
    if isinstance(found, Broken):
        Verification.objects.filter(pk=1).update(at=now, problem=found.problem)
    else:
        whole_at = now if whole or not known.whole_at else known.whole_at
        Verification.objects.filter(pk=1, at=known.at, problem=known.problem).update(
            at=now, whole_at=whole_at, seq=found.seq, hash=found.hash, problem=""
        )
    return Verification.objects.get(pk=1)
