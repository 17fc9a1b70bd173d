"""Writing to the audit log, and moving rows from state to state on the record."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from django.db import models, transaction

from aggregation.clock import Clock
from portal.audit.models import Entry, Head
from portal.states import Stateful

Plain = str | int | bool | None


class Actor(Protocol):
    """Who did it: a person, as far as the log needs to know."""

    pk: Any

    def get_username(self) -> str: ...


@dataclass(frozen=True)
class Change:
    field: str
    before: Plain
    after: Plain


def record(
    *,
    action: str,
    subject: models.Model,
    clock: Clock,
    actor: Actor | None = None,
    changes: Sequence[Change] = (),
) -> Entry:
    """Append one entry, in the caller's transaction if there is one.

    The head is locked until that transaction ends: record last, so that nobody waits for long and
    two transactions cannot wait for each other.
    """
    with transaction.atomic():
        head, _ = Head.objects.select_for_update().get_or_create(pk=1)
        entry = Entry(
            seq=head.seq + 1,
            at=datetime.now(UTC),
            civil_at=clock.now(),
            actor_id=actor.pk if actor else None,
            actor=actor.get_username() if actor else "system",
            action=action,
            object_type=subject._meta.model_name or "",
            object_id=str(subject.pk),
            object_label=_label(subject)[:200],
            changes=[{"field": c.field, "from": c.before, "to": c.after} for c in changes],
            previous=head.hash,
        )
        entry.hash = entry.computed_hash()
        entry.save(force_insert=True)
        head.seq, head.hash = entry.seq, entry.hash
        head.save()
    return entry


def _label(subject: models.Model) -> str:
    """People by their usernames: a full name can be made to look like somebody else's, and must
    not stay for ever in a log that nobody can clean."""
    username = getattr(subject, "get_username", None)
    return str(username() if username else subject)


def move(
    row: Stateful,
    *,
    to: models.TextChoices,
    clock: Clock,
    actor: Actor | None = None,
    action: str = "",
    **fields: Any,
) -> bool:
    """Compare-and-set: take the row from the state it was read in to another, or lose the race.

    True for the one caller who won; the row then has its new state and fields, and the log its
    entry. False if somebody else moved it meanwhile: read it again.
    """
    before = type(row).State(row.state)  # type: ignore[attr-defined]
    if to not in row.MOVES[before]:
        raise ValueError(f"{row._meta.model_name} cannot move from {before} to {to}.")
    with transaction.atomic():
        rows: Any = type(row)._default_manager
        if not rows.filter(pk=row.pk, state=before).update(state=to, **fields):
            return False
        record(
            action=action or f"{row._meta.model_name}.{to}",
            subject=row,
            actor=actor,
            clock=clock,
            changes=[Change("state", str(before), str(to))],
        )
    for name, value in {"state": to, **fields}.items():
        setattr(row, name, value)
    return True
