"""Each fence around a query stands on its own, with the others taken away."""

import sqlite3
from collections.abc import Iterator

import pytest

from aggregation.protocol.sqlite_limits import LIMITS, authorizer, restrict

READS = {"trips": frozenset({"region"})}


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:", isolation_level=None)
    made.execute("CREATE TABLE trips (region TEXT, secret TEXT)")
    restrict(made, READS)
    yield made
    made.close()


def _unfenced(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.set_authorizer(None)
    return connection


def test_nothing_can_be_written_even_without_the_authorizer(connection: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        _unfenced(connection).execute("INSERT INTO trips DEFAULT VALUES")


@pytest.mark.parametrize(("pragma", "value"), [("temp_store", 2), ("trusted_schema", 0)])
def test_pragmas_are_set(connection: sqlite3.Connection, pragma: str, value: int) -> None:
    assert _unfenced(connection).execute(f"PRAGMA {pragma}").fetchall() == [(value,)]


def test_limits_are_set(connection: sqlite3.Connection) -> None:
    assert {category: connection.getlimit(category) for category in LIMITS} == dict(LIMITS)


def test_the_authorizer_denies_every_action_it_does_not_know() -> None:
    decide = authorizer(READS)
    allowed = {n for n in range(100) if decide(n, "trips", "region", "main", None) == 0}
    assert allowed == {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}
    assert decide(sqlite3.SQLITE_FUNCTION, None, "sum", None, None) == sqlite3.SQLITE_OK
    assert decide(sqlite3.SQLITE_FUNCTION, None, "random", None, None) == sqlite3.SQLITE_DENY
    assert decide(sqlite3.SQLITE_READ, "trips", "secret", "main", None) == sqlite3.SQLITE_DENY
    assert decide(sqlite3.SQLITE_READ, "other", "region", "main", None) == sqlite3.SQLITE_DENY
