"""The sandbox: one SELECT over a few rows in an in-memory SQLite that can do nothing else.

The query comes from an analyst, the rows from a person. Whatever the query is, it reads only the
columns it declared, writes nowhere, learns neither the time nor a random number, and ends within
its steps, its seconds and its memory (`protocol.sqlite_limits`). Sorting stays in memory too:
rows never touch a disk.

The database holds the rows of one run and nothing else. Opening one and preparing a query costs
more than running it, so an emptied database serves the next run of the same query. Nothing gets
from one run to another: the query's own connection cannot write, and the rows are overwritten
when they go. A run that fails in any way takes its database with it.
"""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, cached_property

from aggregation.errors import Problem
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

    @cached_property
    def delete(self) -> str:
        return f"DELETE FROM {_quoted(self.name)}"  # noqa: S608 (quoted)


class Sandbox:
    """Runs one query, each time over other rows."""

    def __init__(self, tables: Sequence[Table], sql: str, *, max_rows: int) -> None:
        self._tables = tuple(tables)
        self._sql = sql
        self._max_rows = max_rows
        # Empty, and none of them in use: taken out for a run, put back after it.
        self._waiting: list[_Database] = []
        _check_shared()

    def run(self, rows: Mapping[str, Iterable[Row]], *, columns: int) -> list[Row]:
        """The result's rows; more of them than `max_rows`, or other columns, are a failure."""
        _limit_heap()
        try:
            database = self._taken()
            with database:
                database.fill(rows)
                found = database.ask(self._sql, columns=columns, max_rows=self._max_rows)
                database.empty()
        except _FAILURES:
            raise QueryFailed from None
        self._waiting.append(database)
        return found

    def _taken(self) -> _Database:
        try:
            return self._waiting.pop()
        except IndexError:
            return _Database(self._tables)


class _Database:
    """One memory, two connections: one fills and empties it, one asks and can do nothing else."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._inserts = {table.name: table.insert for table in tables}
        self._deletes = [table.delete for table in tables]
        self._loader, self._asker = _open_pair()
        with self:
            self._loader.executescript("; ".join([_OVERWRITE, *(table.create for table in tables)]))
            restrict(self._asker, {table.name: frozenset(table.columns) for table in tables})

    def fill(self, rows: Mapping[str, Iterable[Row]]) -> None:
        """In one transaction."""
        self._loader.execute("BEGIN")
        for name, insert in self._inserts.items():
            self._loader.executemany(insert, rows[name])
        self._loader.execute("COMMIT")

    def ask(self, sql: str, *, columns: int, max_rows: int) -> list[Row]:
        self._asker.set_progress_handler(_watch(), _STEPS_PER_LOOK)
        with closing(self._asker.execute(sql)) as cursor:
            if cursor.description is None or len(cursor.description) != columns:
                raise QueryFailed
            found: list[Row] = cursor.fetchmany(max_rows + 1)
        if len(found) > max_rows:
            raise QueryFailed
        return found

    def empty(self) -> None:
        for delete in self._deletes:
            self._loader.execute(delete)

    def close(self) -> None:
        self._asker.close()
        self._loader.close()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.close()

    def __del__(self) -> None:
        self.close()


# What is deleted is overwritten with zeros.
_OVERWRITE = "PRAGMA secure_delete=ON"
_NUMBERS = itertools.count()


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


def _open_pair() -> tuple[sqlite3.Connection, sqlite3.Connection]:
    """Two connections to one new memory, for whichever thread has the sandbox's turn."""
    address = f"file:mayfly-{next(_NUMBERS)}?mode=memory&cache=shared"
    first, second = (
        sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
        for _ in range(2)
    )
    return first, second


@cache
def _check_shared() -> None:
    """A SQLite built without shared memory would answer every query as if nothing had happened."""
    first, second = _open_pair()
    with closing(first), closing(second):
        first.execute("CREATE TABLE t (a)")
        if not second.execute("SELECT 1 FROM sqlite_master").fetchall():
            raise Problem("This device's SQLite cannot share a database in memory.")


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
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"PRAGMA hard_heap_limit={HEAP_BYTES}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
