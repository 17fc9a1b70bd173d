"""A table of a release, a page at a time, read from its file.

DuckDB reads only the columns and the groups of rows that a page needs, so that the millionth row
of the largest release is as near as the first.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow.parquet as pq

from aggregation.release.render import WINDOW
from portal.releases.files import TableFile

PAGE_SIZE = 50
# After a value stand its half-width, the noise's part of it, clip correction and uncertainty.
_PARTS = 5
UP, DOWN = "up", "down"
# Nothing is fetched from anywhere: what reading takes is in the package.
_LIMITS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 2,
    "memory_limit": "512MB",
    "autoinstall_known_extensions": False,
}
_ORDER: Final = {UP: "ASC", DOWN: "DESC"}


@dataclass(frozen=True)
class ColumnNames:
    """Where a published number and what stands beside it are in the file."""

    value: str
    # In this order: half-width, the noise's part of it, clip correction, clip uncertainty.
    beside: tuple[str, ...]
    # Columns with words about single rows: why a ratio is missing, where a factor comes from.
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    keys: tuple[str, ...]
    columns: tuple[ColumnNames, ...]
    suppressed: str
    rows: int

    def column(self, name: str) -> ColumnNames | None:
        return next((c for c in self.columns if c.value == name), None)


@dataclass(frozen=True)
class Number:
    """A released number with the half-width of its interval at 95 %; nothing where suppressed."""

    column: str
    value: float | None
    half_width: float | None
    # What the interval is made of: noise, clip correction as a share, and clip uncertainty, which
    # not every task knows.
    noise: float | None
    clip_correction: float | None
    clip_uncertainty: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    keys: tuple[Any, ...]
    numbers: tuple[Number, ...]
    # Why the row is not shown; empty for one that is.
    suppressed: str


def layout_of(file: TableFile, published: tuple[str, ...]) -> Layout:
    """By place, not by name: a task may have called a column what ours would be called."""
    meta = pq.read_metadata(file.path)
    names = meta.schema.to_arrow_schema().names
    first = names.index(WINDOW) + 1
    at = [names.index(name, first) for name in published]
    ends = [*at[1:], len(names) - 1]
    columns = tuple(
        ColumnNames(names[a], tuple(names[a + 1 : a + _PARTS]), tuple(names[a + _PARTS : end]))
        for a, end in zip(at, ends, strict=True)
    )
    return Layout(tuple(names[: first - 1]), columns, names[-1], meta.num_rows)


def read_rows(
    file: TableFile, layout: Layout, *, sort: str = "", order: str = DOWN, first: int, count: int
) -> list[Row]:
    """Rows in the order of a number, suppressed ones last; else in the order of the domain."""
    by = f"{_quoted(sort)} {_ORDER[order]} NULLS LAST, " if layout.column(sort) else ""
    statement = (
        f"SELECT {', '.join(map(_quoted, _wanted(layout)))} "  # noqa: S608 - quoted names
        "FROM read_parquet(?, file_row_number = true) "
        f"ORDER BY {by}file_row_number LIMIT ? OFFSET ?"
    )
    found = _ask(statement, file.path, count, first)
    return [_row(layout, list(values)) for values in found]


def count_suppressed(file: TableFile, layout: Layout) -> int:
    """How many rows are not shown: the rule reads noised values, so the count is public, too."""
    statement = f"SELECT COUNT({_quoted(layout.suppressed)}) FROM read_parquet(?)"  # noqa: S608
    return int(_ask(statement, file.path)[0][0])


def _wanted(layout: Layout) -> list[str]:
    names = list(layout.keys)
    for column in layout.columns:
        names += [column.value, *column.beside, *column.notes]
    return [*names, layout.suppressed]


def _row(layout: Layout, values: list[Any]) -> Row:
    keys, rest = values[: len(layout.keys)], values[len(layout.keys) :]
    numbers = []
    for column in layout.columns:
        value, width, noise, correction, clip, *rest = rest
        notes = tuple(n for n in [rest.pop(0) for _ in column.notes] if n)
        numbers.append(Number(column.value, value, width, noise, correction, clip, notes))
    return Row(tuple(keys), tuple(numbers), rest[0] or "")


def _ask(statement: str, path: Path, *values: int) -> list[tuple[Any, ...]]:
    with duckdb.connect(config=_LIMITS) as database:
        return database.execute(statement, [str(path), *values]).fetchall()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
