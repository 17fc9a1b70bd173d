"""Rules on names: every table and column a query mentions is looked up, and each look-up judged.

A name that does not resolve never falls back to something else, as SQLite's double-quoted
strings and result aliases would have it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from aggregation.compiler.diagnostics import Finding
from aggregation.protocol.streams import Column

_ROW_IDS: Final = {"rowid", "_rowid_", "oid"}
_IDENTIFIER: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
RESERVED: Final = {"device_results", "device_facts"}
_TRUTH: Final = {"true", "false"}
# As many as a hint names of what there is.
_NAMED: Final = 20


@dataclass(frozen=True)
class ColumnLookup:
    """A column's name, and what stands under it where it is used."""

    name: str
    table: str | None
    quoted: bool
    at: int
    # How many sources have such a column.
    hits: int
    # The stream's column, where that is what was found.
    column: Column | None
    # Names that could have been meant.
    known: tuple[str, ...]
    # Whether `table` names a source at all.
    table_known: bool = True
    # Whether a query around this one has it.
    outside: bool = False


@dataclass(frozen=True)
class TableLookup:
    """A table's name in FROM."""

    name: str
    at: int
    # Given as schema.table
    schema: str | None
    declared: bool
    installed: bool
    # What a query of this kind may read.
    readable: tuple[str, ...]


@dataclass(frozen=True)
class NewName:
    """A name the query gives to a step or a source, and what it stands for."""

    name: str
    at: int
    taken: tuple[str, ...]
    # The stream itself under its own name.
    own: bool = False


ColumnRule = Callable[[ColumnLookup], Finding | None]
TableRule = Callable[[TableLookup], Finding | None]


def event_time(lookup: ColumnLookup) -> Finding | None:
    """The moment of an event identifies people; it never leaves the runtime's hands."""
    if lookup.column is None or lookup.column.queryable:
        return None
    hint = "Use privacy_time_unit, hour_of_day or day_of_week."
    return Finding(f"{lookup.name} cannot be read by any query.", hint, at=lookup.at)


def free_text(lookup: ColumnLookup) -> Finding | None:
    """Text without a declared domain may hold anything about anyone."""
    column = lookup.column
    if column is None or column.type != "text" or column.domain is not None or column.stamped:
        return None
    message = f"{lookup.name} is free text: it has no declared domain."
    return Finding(message, "Use columns with a domain.", at=lookup.at)


def row_id(lookup: ColumnLookup) -> Finding | None:
    if lookup.hits or lookup.name not in _ROW_IDS:
        return None
    return Finding(f"{lookup.name} numbers single rows.", "Remove it.", at=lookup.at)


def correlated(lookup: ColumnLookup) -> Finding | None:
    if lookup.hits or not lookup.outside:
        return None
    message = f"{lookup.name} belongs to the query around this one."
    return Finding(message, "Join a grouped subquery instead.", at=lookup.at)


def double_quoted(lookup: ColumnLookup) -> Finding | None:
    """SQLite would take an unknown "name" for text."""
    if lookup.hits or not lookup.quoted or lookup.table is not None:
        return None
    message = f'"{lookup.name[:40]}" in double quotes is a name, and there is no such column.'
    return Finding(message, "Text stands in single quotes.", at=lookup.at)


def ambiguous_column(lookup: ColumnLookup) -> Finding | None:
    if lookup.hits < 2:
        return None
    message = f"Several tables here have a column {lookup.name}."
    return Finding(message, f"Say which: table.{lookup.name}.", at=lookup.at)


def unknown_column(lookup: ColumnLookup) -> Finding | None:
    if lookup.hits:
        return None
    if not lookup.table_known:
        message = f"There is no table {lookup.table} here."
        return Finding(message, "Use a name that FROM gives.", at=lookup.at)
    message = f"There is no column {lookup.name[:60]} here."
    return Finding(message, nearest(lookup.name, lookup.known), at=lookup.at)


def qualified_table(lookup: TableLookup) -> Finding | None:
    if lookup.schema is None:
        return None
    message = f"The table {lookup.name[:60]} is named with a schema or database."
    return Finding(message, "Write the stream's name alone.", at=lookup.at)


def undeclared_stream(lookup: TableLookup) -> Finding | None:
    """Each stream a query reads is declared, consented to and charged."""
    if lookup.declared or not lookup.installed:
        return None
    message = f"The query reads {lookup.name}, which the spec does not declare."
    return Finding(message, f"Add {lookup.name} to `streams`.", at=lookup.at)


def other_table(lookup: TableLookup) -> Finding | None:
    if lookup.declared or lookup.installed:
        return None
    message = f"There is no table {lookup.name[:60]} for this query."
    return Finding(message, nearest(lookup.name, lookup.readable), at=lookup.at)


def shadowing(new: NewName) -> Finding | None:
    """A step that takes a stream's name would pass for the stream."""
    if new.own or new.name not in new.taken:
        return None
    message = f"{new.name} is already the name of a table; another cannot take it."
    return Finding(message, "Choose another name.", at=new.at)


def output_name(name: str, at: int, *, named: bool) -> Finding | None:
    """Columns that leave a query have plain names."""
    if not named:
        return Finding("This column has no name.", "Give it one: … AS name.", at=at)
    if name in _TRUTH:
        message = f"{name.upper()} is a value, so it is no name for a column."
        return Finding(message, "Choose another name.", at=at)
    if _IDENTIFIER.fullmatch(name) and not name.startswith("sqlite_"):
        return None
    message = f"{name[:60]!r} is no name for a column."
    hint = "Use up to 63 of a–z, 0–9 and _, not beginning with a digit."
    return Finding(message, hint, at=at)


def nearest(name: str, known: Sequence[str]) -> str:
    """A hint: the known name that was probably meant, or those there are."""
    folded = {one.casefold(): one for one in known}
    if near := difflib.get_close_matches(name.casefold(), folded, n=1):
        return f"Did you mean {folded[near[0]]}?"
    return there_are(known) if known else "Nothing can be read here."


def there_are(names: Sequence[str]) -> str:
    """Some of many, and how many more."""
    if len(names) == 1:
        return f"There is only {names[0]}."
    named, more = ", ".join(names[:_NAMED]), len(names) - _NAMED
    return f"There are {named} and {more:,} more." if more > 0 else f"There are {named}."


# The first that finds something speaks.
COLUMN_RULES: Final[tuple[ColumnRule, ...]] = (
    event_time,
    free_text,
    row_id,
    correlated,
    double_quoted,
    ambiguous_column,
    unknown_column,
)
TABLE_RULES: Final[tuple[TableRule, ...]] = (qualified_table, undeclared_stream, other_table)
