"""The sandbox: one SELECT over a few rows in a fresh in-memory SQLite that can do nothing else.

The query comes from an analyst, the rows from a person. Whatever the query is, it reads only the
columns it declared, writes nowhere, learns neither the time nor a random number, and ends within
its steps, its seconds and its memory (`protocol.sqlite_limits`). Sorting stays in memory too:
rows never touch a disk.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, cached_property

from aggregation.protocol.sqlite_limits import HEAP_BYTES, MAX_SECONDS, MAX_STEPS, restrict

Cell = str | int | float | None
Row = tuple[Cell, ...]

# SQLite's steps between two looks at the clock.
_STEPS_PER_LOOK = 10_000


class QueryFailed(Exception):
    """The query did not give a result. Says nothing about why: that could tell about rows."""


@dataclass(frozen=True)
class Table:
    """A table the query may read: its name and its columns with their SQLite types."""

    name: str
    columns: Mapping[str, str]

    @cached_property
    def create(self) -> str:
        columns = ", ".join(f"{_quoted(name)} {kind}" for name, kind in self.columns.items())
        return f"CREATE TABLE {_quoted(self.name)} ({columns})"

    @cached_property
    def insert(self) -> str:
        places = ", ".join("?" * len(self.columns))
        return f"INSERT INTO {_quoted(self.name)} VALUES ({places})"  # noqa: S608 (quoted)


class Sandbox:
    """Runs one query, each time over other rows."""

    def __init__(self, tables: Sequence[Table], sql: str, *, max_rows: int) -> None:
        self._tables = tuple(tables)
        self._reads = {table.name: frozenset(table.columns) for table in tables}
        # One transaction for all rows.
        self._create = "; ".join(["BEGIN", *(table.create for table in tables)])
        self._sql = sql
        self._max_rows = max_rows

    def run(self, rows: Mapping[str, Iterable[Row]], *, columns: int) -> list[Row]:
        """The result's rows; more of them than `max_rows`, or other columns, are a failure."""
        _limit_heap()
        try:
            with closing(_open()) as connection:
                self._fill(connection, rows)
                restrict(connection, self._reads)
                connection.set_progress_handler(_watch(), _STEPS_PER_LOOK)
                return self._fetch(connection, columns)
        except _FAILURES:
            raise QueryFailed from None

    def _fill(self, connection: sqlite3.Connection, rows: Mapping[str, Iterable[Row]]) -> None:
        connection.executescript(self._create)
        for table in self._tables:
            connection.executemany(table.insert, rows[table.name])
        connection.execute("COMMIT")

    def _fetch(self, connection: sqlite3.Connection, columns: int) -> list[Row]:
        cursor = connection.execute(self._sql)
        if cursor.description is None or len(cursor.description) != columns:
            raise QueryFailed
        found: list[Row] = cursor.fetchmany(self._max_rows + 1)
        if len(found) > self._max_rows:
            raise QueryFailed
        return found


# What SQLite and its Python binding raise: refused, interrupted, out of memory, out of range,
# more than one statement (a Warning before Python 3.12), a NUL or a lone surrogate in text.
_FAILURES = (
    sqlite3.Error,
    sqlite3.Warning,
    MemoryError,
    OverflowError,
    ValueError,
    TypeError,
)


def _open() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)


def _watch() -> Callable[[], bool]:
    """Stops the query once it has used up its steps or its time."""
    end = time.monotonic() + MAX_SECONDS
    looks = MAX_STEPS // _STEPS_PER_LOOK

    def spent() -> bool:
        nonlocal looks
        looks -= 1
        return looks < 0 or time.monotonic() > end

    return spent


@cache
def _limit_heap() -> None:
    """SQLite counts its memory for the whole process, and lets the limit only go down."""
    with closing(_open()) as connection:
        connection.execute(f"PRAGMA hard_heap_limit={HEAP_BYTES}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
