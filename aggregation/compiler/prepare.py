"""Prepare a canonical query once, against empty tables, under the very rules devices apply."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing

from aggregation.protocol.sqlite_limits import MAX_STEPS, restrict
from aggregation.protocol.streams import Column, Stream

_AFFINITY = {"text": "TEXT", "integer": "INTEGER", "real": "REAL"}


def prepared_columns(
    sql: str, tables: Mapping[str, Iterable[tuple[str, str]]]
) -> tuple[str, ...] | str:
    """The columns SQLite says the query has, or SQLite's reason to refuse it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for table, columns in tables.items():
            declared = ", ".join(f'"{name}" {kind}' for name, kind in columns)
            connection.execute(f'CREATE TABLE "{table}" ({declared})')
        restrict(connection, {t: frozenset(n for n, _ in c) for t, c in tables.items()})
        connection.set_progress_handler(lambda: 1, MAX_STEPS)
        try:
            cursor = connection.execute(sql)
            cursor.fetchmany(2)
        except sqlite3.Error as error:
            return str(error)
        return tuple(column[0] for column in cursor.description)


def table_columns(stream: Stream, reads: Iterable[str]) -> list[tuple[str, str]]:
    """The columns a device creates for a query: those it reads, with their types."""
    wanted = [stream.column(name) for name in reads]
    return [(c.name, _AFFINITY.get(c.type, "TEXT")) for c in wanted if isinstance(c, Column)]
