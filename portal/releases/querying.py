"""Questions to a table's file: SQL of quoted names and marks, with the values bound beside it.

DuckDB reads only the columns and the groups of rows that an answer needs. Nothing that came from
outside is ever part of a statement.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import duckdb
import pyarrow as pa

from portal.releases.files import TableFile

UP, DOWN = "up", "down"
# For each key the values of which a row may have one.
Where = Mapping[str, Sequence[str]]
EVERYTHING: Where = MappingProxyType({})
_NOTHING: Mapping[str, pa.Table] = MappingProxyType({})
# Nothing is fetched from anywhere: what reading takes is in the package. Rows without an order of
# their own come as they are in the file.
_LIMITS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 2,
    "memory_limit": "512MB",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "preserve_insertion_order": True,
}
_ORDER: Final = {UP: "ASC", DOWN: "DESC"}
# Further down than this it is quicker to find out which rows are wanted, and to read only those.
_DEEP = 5000
# Answers of at most so many rows are remembered, and so many of them: all of 1 kB, 25 MB.
SMALL, _ANSWERS = 100, 256
# More values than this are joined as a table: bound one by one, 15,000 take 0.4 s.
_MANY = 100


@dataclass(frozen=True)
class Question:
    """What is wanted of a file: columns of some rows, in some order. Names are quoted already."""

    columns: Sequence[str]
    # What a row has to fulfil; its marks stand for the values.
    conditions: Sequence[str] = ()
    values: Sequence[str] = ()
    # SQL of what rows are sorted by; empty for the order of the file.
    sort: str = ""
    order: str = UP
    # What the rows are joined with, by the name it has in the SQL of `join` and the conditions.
    joined: Mapping[str, pa.Table] = field(default_factory=dict)
    join: str = ""

    def page(self, file: TableFile, *, first: int, count: int) -> list[tuple[Any, ...]]:
        limits, small = (count, first), count <= SMALL
        if not self.sort or first + count <= _DEEP:
            statement = f"{self._all} {self._by} LIMIT ? OFFSET ?"
            return self._ask(file, statement, *self.values, *limits, small=small)
        which = f"SELECT file_row_number {self._rows} {self._by} LIMIT ? OFFSET ?"
        statement = f"{self._select} {self._from} WHERE file_row_number IN ({which}) {self._by}"
        return self._ask(file, statement, str(file.path), *self.values, *limits, small=small)

    def batches(self, file: TableFile, *, size: int) -> Iterator[pa.RecordBatch]:
        """All rows, a batch at a time: only one is in memory, unless they have to be sorted."""
        statement = f"{self._all} {self._by}"
        with opened_for(file.path) as database:
            for name, table in self.joined.items():
                database.register(name, table)
            found = database.sql(statement, params=[str(file.path), *self.values])
            reader: pa.RecordBatchReader = found.to_arrow_reader(size)
            yield from reader

    def count(self, file: TableFile) -> int:
        found = self._ask(file, f"SELECT COUNT(*) {self._rows}", *self.values, small=True)
        return int(found[0][0])

    def _ask(
        self, file: TableFile, statement: str, *values: int | str, small: bool
    ) -> list[tuple[Any, ...]]:
        if small and not self.joined:
            return list(remembered(file, statement, values))
        return ask(statement, str(file.path), *values, joined=self.joined)

    @property
    def _all(self) -> str:
        return f"{self._select} {self._rows}"

    @property
    def _select(self) -> str:
        return f"SELECT {', '.join(self.columns)}"

    @property
    def _rows(self) -> str:
        return self._from + (f" WHERE {' AND '.join(self.conditions)}" if self.conditions else "")

    @property
    def _from(self) -> str:
        return f"FROM read_parquet(?, file_row_number = true) {self.join}"

    @property
    def _by(self) -> str:
        # Rows that are alike keep the order of the file, so that pages fit together; what is
        # joined would lose it.
        if self.sort:
            return f"ORDER BY {self.sort} {_ORDER[self.order]} NULLS LAST, file_row_number"
        return "ORDER BY file_row_number" if self.joined else ""


@dataclass(frozen=True)
class OneOf:
    """A condition: that a column, already quoted, has one of some values as its text."""

    column: str
    wanted: Sequence[str]
    # Whether many values are joined. What is read as a stream is not: it would have to be sorted.
    joins: bool = True

    @property
    def sql(self) -> str:
        if self._is_joined:
            return f"{self.column}::VARCHAR IN (SELECT wanted FROM {quoted(self._name)})"  # noqa: S608 - quoted names
        return f"{self.column}::VARCHAR IN ({', '.join('?' * len(self.wanted)) or 'NULL'})"

    @property
    def values(self) -> Sequence[str]:
        return () if self._is_joined else self.wanted

    @property
    def joined(self) -> dict[str, pa.Table]:
        if not self._is_joined:
            return {}
        return {self._name: pa.table({"wanted": pa.array(self.wanted, pa.string())})}

    @property
    def _is_joined(self) -> bool:
        return self.joins and len(self.wanted) > _MANY

    @property
    def _name(self) -> str:
        return f"wanted of {self.column}"


def ask(
    statement: str, path: str, *values: int | str, joined: Mapping[str, pa.Table] = _NOTHING
) -> list[tuple[Any, ...]]:
    """The first mark of the statement stands for the path of the file."""
    with _database(_root(Path(path))).cursor() as asking:
        for name, table in joined.items():
            asking.register(name, table)
        return asking.execute(statement, [path, *values]).fetchall()


def opened_for(path: Path) -> duckdb.DuckDBPyConnection:
    """Reads files of releases, and nothing else: whatever a statement should ever say."""
    return _opened(_root(path))


def _root(path: Path) -> Path:
    """The folder of all releases: a file lies in the folder of its window, in that of its task."""
    return path.parents[2]


def _opened(root: Path) -> duckdb.DuckDBPyConnection:
    database = duckdb.connect(config=_LIMITS)
    folder = str(root).replace("'", "''")
    # In this order: once access is closed, nothing can be opened again.
    database.execute(f"SET allowed_directories = ['{folder}']")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    return database


@lru_cache(maxsize=_ANSWERS)
def remembered(
    file: TableFile, statement: str, values: tuple[int | str, ...]
) -> tuple[tuple[Any, ...], ...]:
    """A file never changes, so its answers do not: the next page of a table costs what is new."""
    return tuple(ask(statement, str(file.path), *values))


@lru_cache(maxsize=2)
def _database(root: Path) -> duckdb.DuckDBPyConnection:
    """One for the process, with nothing in it: to open one takes longer than to ask it."""
    return _opened(root)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
