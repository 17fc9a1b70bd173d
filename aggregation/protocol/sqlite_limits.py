"""What SQLite may do for a query: the limits a device sets, and the compiler checks against.

The compiler prepares every query once under these rules, the device runs it under them again:
a query that passes there does not fail here, and one that never saw a compiler gets no further.
"""

import sqlite3
import sys
from collections.abc import Callable, Mapping
from typing import Final

# Functions a query may call, as SQLite's authorizer names them. Operators such as + or CASE are
# not functions. Left out on purpose: whatever builds text, reads the clock, draws random numbers
# or opens JSON, and whatever some builds of SQLite lack (sqrt, pow, floor).
ALLOWED_FUNCTIONS: Final = frozenset(
    {
        "abs",
        "avg",
        "coalesce",
        "count",
        "ifnull",
        "iif",
        "max",
        "min",
        "nullif",
        "round",
        "sum",
        "total",
    }
)

# Limit category of sqlite3.Connection.setlimit → its value.
LIMITS: Final[Mapping[int, int]] = {
    sqlite3.SQLITE_LIMIT_LENGTH: 100_000,  # bytes of one value or row
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 128,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 32,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 4,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 64,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

# A query that takes more steps of SQLite's machine than this, or longer, is stopped.
MAX_STEPS: Final = 5_000_000
MAX_SECONDS: Final = 0.5

# The most memory SQLite may hold. SQLite counts it for the whole process and never raises it
# again, so it leaves room for the caches of other databases in the same process.
HEAP_BYTES: Final = 256 * 2**20

# SQLite's own virtual tables, which would answer a count without naming a column.
_SYSTEM_PREFIXES: Final = ("sqlite_", "pragma_", "json_", "fts", "rtree", "dbstat", "generate_")

Authorizer = Callable[[int, str | None, str | None, str | None, str | None], int]


def authorizer(reads: Mapping[str, frozenset[str]]) -> Authorizer:
    """Denies everything but SELECT, reading these columns of these tables, and known functions.

    SQLite calls it while it compiles a statement, for each thing the statement would do.
    """

    def decide(
        action: int, first: str | None, second: str | None, _db: str | None, _by: str | None
    ) -> int:
        if action == sqlite3.SQLITE_SELECT:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ and _may_read(reads, first or "", second or ""):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and second in ALLOWED_FUNCTIONS:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    return decide


def _may_read(reads: Mapping[str, frozenset[str]], table: str, column: str) -> bool:
    if column:
        return column in reads.get(table, ())
    # COUNT(*) reads a table without naming a column. The table may then be a common table
    # expression, whose own reads are checked where it is defined.
    return table in reads or not table.lower().startswith(_SYSTEM_PREFIXES)


# Sorting never spills to a file; nothing in a schema is trusted; nothing is written.
_PRAGMAS: Final = "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF; PRAGMA query_only=ON"


def restrict(connection: sqlite3.Connection, reads: Mapping[str, frozenset[str]]) -> None:
    """Leave a connection able to do nothing but read these columns, within the limits.

    Call it after the tables exist and are filled: nothing can be created or bound afterwards.
    """
    connection.executescript(_PRAGMAS)
    _configure(connection)
    for category, value in LIMITS.items():
        connection.setlimit(category, value)
    connection.set_authorizer(authorizer(reads))  # last: from here on, PRAGMA is denied too


def _configure(connection: sqlite3.Connection) -> None:
    """Turn off double-quoted strings and unsafe schema, where Python can say so (from 3.12)."""
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DQS_DDL, False)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DQS_DML, False)
