"""What attempts to get around the second person share."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, models, transaction

# The first window after the tests' now.
FIRST = datetime(2026, 11, 23, tzinfo=UTC)


def approval_by(person: Any, **more: Any) -> dict[str, Any]:
    """All the columns that an approval needs, written by hand."""
    return {
        "state": "approved",
        "approver_id": person.pk,
        "approved_at": datetime(2026, 11, 16, 12, tzinfo=UTC),
        "decided_at": datetime(2026, 11, 16, 12, tzinfo=UTC),
        "first_window": FIRST,
        "key_id": "0" * 16,
        "signature": "ab" * 64,
        **more,
    }


def refused_by_the_database(attempt: Callable[[], Any]) -> None:
    """By one of its rules: a mistake in the attempt itself would be another kind of error."""
    with pytest.raises(DatabaseError) as found, transaction.atomic():
        attempt()
    rule = isinstance(found.value, IntegrityError)
    assert rule or "append-only" in str(found.value) or "emptied" in str(found.value)


def execute(statement: str, *values: Any) -> None:
    connection.cursor().execute(statement, values or None)


def copy_of(model: type[models.Model], *, pk: Any, verb: str = "INSERT", **columns: str) -> str:
    """SQL that writes a row once more, with some columns as SQL says; a new id unless named."""
    table = model._meta.db_table
    names = [field.column for field in model._meta.concrete_fields if field.column != "id"]
    if "id" in columns:
        names = ["id", *names]
    into = ", ".join(f'"{name}"' for name in names)
    values = ", ".join(columns.get(name, f'"{name}"') for name in names)
    return f"{verb} INTO {table} ({into}) SELECT {values} FROM {table} WHERE id = {pk}"
