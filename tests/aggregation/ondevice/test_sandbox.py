"""The sandbox on its own, without the compiler: hostile SQL straight at it."""

import sqlite3
import time
from pathlib import Path

import pytest

from aggregation.ondevice import sandbox as module
from aggregation.ondevice.sandbox import QueryFailed
from aggregation.protocol.sqlite_limits import ALLOWED_FUNCTIONS
from tests.aggregation.ondevice.sandboxed import run

# One statement a line.
HOSTILE = (Path(__file__).parent / "hostile.sql").read_text().splitlines()


def test_it_works() -> None:
    sql = "SELECT region, COUNT(*), SUM(distance_km) FROM trips GROUP BY region ORDER BY 1"
    assert run(sql, columns=3) == [("1001", 2, 20.0), ("1002", 1, 3.0)]


HONEST = {
    "case": "SELECT SUM(CASE WHEN activity = 'bus' THEN 1 ELSE 0 END) FROM trips",
    "cte": "WITH t AS (SELECT region, COUNT(*) AS n FROM trips GROUP BY 1) SELECT SUM(n) FROM t",
    "count of a grouped cte": "WITH t AS (SELECT region FROM trips GROUP BY region) "
    "SELECT COUNT(*) FROM t",
    "subquery": "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM trips GROUP BY region)",
    "having": "SELECT region FROM trips GROUP BY region HAVING COUNT(*) > 1",
    "functions": "SELECT ROUND(AVG(distance_km), 2) + ABS(MIN(distance_km)) + TOTAL(distance_km) "
    "+ COALESCE(NULL, IFNULL(NULL, NULLIF(1, 2)), IIF(1, 2, 3)) FROM trips",
    "cast": "SELECT CAST(SUM(distance_km) AS INTEGER) FROM trips",
    "two streams": "SELECT COUNT(*) FROM trips, assistant",
    "union all": "SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM trips UNION ALL "
    "SELECT COUNT(*) FROM assistant)",
    "correlated": "SELECT (SELECT COUNT(*) FROM trips AS b WHERE b.region = a.region) FROM trips a",
    "filter": "SELECT COUNT(*) FILTER (WHERE distance_km > 5) FROM trips",
    "in": "SELECT COUNT(*) FROM trips WHERE region IN ('1001', '1003')",
}


@pytest.mark.parametrize("name", HONEST)
def test_it_runs_what_honest_queries_need(name: str) -> None:
    assert run(HONEST[name])


@pytest.mark.parametrize("sql", HOSTILE)
def test_it_refuses(sql: str) -> None:
    with pytest.raises(QueryFailed):
        run(sql)


def test_a_deeply_nested_expression_is_refused() -> None:
    for depth in (100, 5_000):
        with pytest.raises(QueryFailed):
            run("SELECT " + "(" * depth + "1" + ")" * depth + "+1" * depth)


def test_a_long_text_is_refused() -> None:
    with pytest.raises(QueryFailed):
        run("SELECT 1 " + " " * 20_000)
    with pytest.raises(QueryFailed):
        run("SELECT '\0'")
    with pytest.raises(QueryFailed):
        run("SELECT '\ud800'")


def test_text_cannot_grow_beyond_its_limit() -> None:
    with pytest.raises(QueryFailed):
        run("SELECT " + " || ".join(["x"] * 9) + " FROM (SELECT " + _grown(5) + " AS x FROM trips)")


def _grown(levels: int) -> str:
    """Text of 4 · 8^levels characters, nested in subqueries (the grammar would refuse it)."""
    sql = "region"
    for _ in range(levels):
        sql = f"(SELECT {'||'.join(['y'] * 8)} FROM (SELECT {sql} AS y))"
    return sql


BOMBS = {
    "cross join": "SELECT COUNT(*) FROM trips a, trips b, trips c WHERE a.distance_km + "
    "b.distance_km + c.distance_km < 0",
    "grouped cross join": "SELECT COUNT(*) FROM (SELECT a.distance_km * b.distance_km AS x "
    "FROM trips a, trips b, trips c GROUP BY x, a.region, c.distance_km)",
    "sorted cross join": "SELECT MAX(x) FROM (SELECT DISTINCT a.distance_km + b.distance_km * "
    "c.distance_km AS x FROM trips a, trips b, trips c ORDER BY 1)",
}


@pytest.mark.parametrize("name", BOMBS)
def test_it_stops_a_query_that_does_not_end(name: str) -> None:
    began = time.monotonic()
    with pytest.raises(QueryFailed):
        run(BOMBS[name], rows=2_000)
    assert time.monotonic() - began < 5  # half a second of its own, on a busy machine


@pytest.mark.parametrize("off", ["MAX_SECONDS", "MAX_STEPS"])
def test_steps_and_seconds_each_stop_a_query(off: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, off, 10**12)
    test_it_stops_a_query_that_does_not_end("cross join")


def test_it_stops_a_query_that_gives_too_many_rows() -> None:
    assert len(run("SELECT distance_km FROM trips", rows=100)) == 100
    with pytest.raises(QueryFailed):
        run("SELECT distance_km FROM trips", rows=101)


def test_it_refuses_other_columns_than_expected() -> None:
    with pytest.raises(QueryFailed):
        run("SELECT 1", columns=2)


def test_every_allowed_function_exists_in_this_sqlite() -> None:
    with sqlite3.connect(":memory:") as connection:
        known = {name for (name, *_) in connection.execute("PRAGMA function_list")}
    connection.close()
    assert known >= ALLOWED_FUNCTIONS
