"""The sandbox on its own, without the compiler: hostile SQL straight at it."""

import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import aggregation
from aggregation.ondevice import sandbox as module
from aggregation.ondevice.sandbox import QueryFailed, Row, Sandbox, Table
from aggregation.protocol.sqlite_limits import ALLOWED_FUNCTIONS

TRIPS = Table("trips", {"region": "TEXT", "activity": "TEXT", "distance_km": "REAL"})
OTHER = Table("assistant", {"feature": "TEXT"})
ROWS: dict[str, list[Row]] = {
    "trips": [("1001", "driving", 12.5), ("1001", "driving", 7.5), ("1002", "bus", 3.0)],
    "assistant": [("reply",)],
}


def run(sql: str, *, columns: int = 1, max_rows: int = 100, rows: int = 0) -> list[Row]:
    tables = dict(ROWS)
    if rows:
        tables["trips"] = [(str(n % 7), "bus", float(n)) for n in range(rows)]
    return Sandbox([TRIPS, OTHER], sql, max_rows=max_rows).run(tables, columns=columns)


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


HOSTILE = """
SELECT rowid FROM trips
SELECT oid FROM trips
SELECT _rowid_ FROM trips
SELECT name FROM sqlite_master
SELECT COUNT(*) FROM sqlite_master
SELECT COUNT(*) FROM sqlite_schema
SELECT COUNT(*) FROM sqlite_temp_master
SELECT COUNT(*) FROM sqlite_temp_schema
SELECT COUNT(*) FROM SQLITE_MASTER
SELECT sql FROM main.sqlite_master
SELECT COUNT(*) FROM sqlite_stmt
SELECT COUNT(*) FROM dbstat
SELECT COUNT(*) FROM sqlite_dbpage
SELECT COUNT(*) FROM pragma_table_info('trips')
SELECT COUNT(*) FROM pragma_database_list
SELECT COUNT(*) FROM pragma_function_list
SELECT COUNT(*) FROM json_each('[1,2]')
SELECT COUNT(*) FROM json_tree('{"a":1}')
SELECT COUNT(*) FROM generate_series(1, 1000000000)
SELECT COUNT(*) FROM fts3tokenize
SELECT COUNT(*) FROM nowhere
SELECT secret FROM trips
SELECT random()
SELECT abs(random()) % 5
SELECT randomblob(8)
SELECT zeroblob(100000000)
SELECT hex('a')
SELECT quote('a')
SELECT char(65)
SELECT unicode('a')
SELECT typeof(1)
SELECT length('abc')
SELECT substr('abc', 1, 1)
SELECT substring('abc', 1, 1)
SELECT replace('abc', 'b', 'c')
SELECT instr('abc', 'b')
SELECT upper('a')
SELECT lower('A')
SELECT trim(' a ')
SELECT printf('%.*c', 900000000, 'x')
SELECT format('%d', 1)
SELECT group_concat(region) FROM trips
SELECT string_agg(region, ',') FROM trips
SELECT json_group_array(region) FROM trips
SELECT json_object('a', 1)
SELECT json('{}')
SELECT '{"a":1}' -> 'a'
SELECT '{"a":1}' ->> 'a'
SELECT date()
SELECT date('now')
SELECT date('n' || 'ow')
SELECT datetime('now')
SELECT time('now')
SELECT julianday('now')
SELECT unixepoch()
SELECT strftime('%s')
SELECT strftime('%s', 'now')
SELECT timediff('now', '2020-01-01')
SELECT CURRENT_TIMESTAMP
SELECT CURRENT_DATE
SELECT CURRENT_TIME
SELECT sqlite_version()
SELECT sqlite_source_id()
SELECT sqlite_compileoption_get(1)
SELECT last_insert_rowid()
SELECT changes()
SELECT total_changes()
SELECT load_extension('evil')
SELECT soundex('a')
SELECT likelihood(1, 0.5)
SELECT 'a' LIKE 'a'
SELECT 'a' GLOB 'a'
SELECT 'a' REGEXP 'a'
SELECT 'a' MATCH 'a'
SELECT sum(1) OVER () + row_number() OVER () FROM trips
SELECT rank() OVER (ORDER BY distance_km) FROM trips
SELECT lag(distance_km) OVER () FROM trips
SELECT nth_value(region, 2) OVER () FROM trips
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT COUNT(*) FROM r
WITH RECURSIVE r(x) AS (SELECT 1 UNION SELECT x + 1 FROM r WHERE x < 5) SELECT MAX(x) FROM r
INSERT INTO trips VALUES ('x', 'y', 1)
INSERT INTO trips VALUES ('x', 'y', 1) RETURNING 1
UPDATE trips SET region = 'x'
UPDATE trips SET region = 'x' RETURNING region
DELETE FROM trips
DELETE FROM trips RETURNING region
REPLACE INTO trips VALUES ('x', 'y', 1)
CREATE TABLE t (a)
CREATE TEMP TABLE t (a)
CREATE TABLE t AS SELECT * FROM trips
CREATE VIEW v AS SELECT 1
CREATE TRIGGER g AFTER INSERT ON trips BEGIN SELECT 1; END
CREATE INDEX i ON trips (region)
CREATE VIRTUAL TABLE v USING fts5(a)
DROP TABLE trips
ALTER TABLE trips ADD COLUMN x
ATTACH DATABASE '/tmp/evil.db' AS evil
ATTACH ':memory:' AS evil
DETACH DATABASE main
VACUUM
VACUUM INTO '/tmp/evil.db'
PRAGMA query_only=OFF
PRAGMA table_info(trips)
PRAGMA database_list
PRAGMA hard_heap_limit=0
PRAGMA writable_schema=ON
PRAGMA trusted_schema=ON
ANALYZE
REINDEX
BEGIN
COMMIT
SAVEPOINT s
ROLLBACK
EXPLAIN SELECT 1
EXPLAIN QUERY PLAN SELECT 1
SELECT 1; SELECT 2
SELECT 1; DROP TABLE trips
SELECT ?
SELECT ?1
SELECT :x
SELECT @x
SELECT $x
SELECT x'00' || zeroblob(9)
SELECT region, activity FROM trips
SELECT * FROM trips
SELECT 9223372036854775807 + 1, 2
SELECT SUM(9223372036854775807) FROM trips
SELECT COUNT(*) FROM trips NATURAL JOIN missing
SELECT max(1,2,3,4,5,6,7,8,9)
SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5

-- nothing
;
SELECT
not sql at all
"""


@pytest.mark.parametrize("sql", HOSTILE.strip().splitlines())
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


def test_every_run_sees_its_own_rows_alone() -> None:
    sandbox = Sandbox([TRIPS], "SELECT COUNT(*) FROM trips", max_rows=1)
    assert sandbox.run({"trips": ROWS["trips"]}, columns=1) == [(3,)]
    assert sandbox.run({"trips": []}, columns=1) == [(0,)]


def test_nothing_of_a_run_stays_in_memory_that_another_one_gets() -> None:
    """The very bytes of the database: a row that is merely marked as free would be among them."""
    sandbox = Sandbox([TRIPS], "SELECT COUNT(*) FROM trips", max_rows=1)
    sandbox.run({"trips": [("home of somebody", "bus", 1.0)] * 500}, columns=1)
    [database] = sandbox._waiting
    assert len(left := database._loader.serialize()) > 500
    assert b"somebody" not in left


def test_a_run_that_fails_takes_its_database_with_it() -> None:
    sandbox = Sandbox([TRIPS], "SELECT distance_km FROM trips", max_rows=1)
    assert sandbox.run({"trips": ROWS["trips"][:1]}, columns=1) == [(12.5,)]
    with pytest.raises(QueryFailed):
        sandbox.run({"trips": ROWS["trips"]}, columns=1)
    assert not sandbox._waiting
    with pytest.raises(ZeroDivisionError):  # not the query's fault: told as what it is
        sandbox.run({"trips": (row for row in [("1001", "bus", 1 / 0)])}, columns=1)
    assert not sandbox._waiting
    assert sandbox.run({"trips": ROWS["trips"][2:]}, columns=1) == [(3.0,)]


def test_the_connection_that_asks_stays_restricted() -> None:
    """Run after run: what could be denied once must not be allowed the second time."""
    for sql in ("DELETE FROM trips", 'INSERT INTO "trips" VALUES (?, ?, ?)', "COMMIT", "BEGIN"):
        sandbox = Sandbox([TRIPS], "SELECT COUNT(*) FROM trips", max_rows=1)
        sandbox.run(ROWS, columns=1)
        [database] = sandbox._waiting
        for _ in range(2):
            with pytest.raises((sqlite3.Error, QueryFailed)):
                database.ask(sql, columns=1, max_rows=1)


def test_threads_do_not_share_a_database() -> None:
    sandbox = Sandbox([TRIPS], "SELECT COUNT(*) FROM trips", max_rows=1)

    def counted(rows: int) -> bool:
        trips: list[Row] = [("1001", "bus", 1.0)] * rows
        return sandbox.run({"trips": trips}, columns=1) == [(rows,)]

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(counted, range(200)))


def test_a_failure_says_nothing_about_the_rows() -> None:
    with pytest.raises(QueryFailed) as failure:
        run("SELECT SUM(9223372036854775807 - 0 * distance_km), secret_1001 FROM trips", columns=2)
    assert str(failure.value) == ""
    assert failure.value.__cause__ is None
    assert failure.value.__suppress_context__


def test_every_allowed_function_exists_in_this_sqlite() -> None:
    with sqlite3.connect(":memory:") as connection:
        known = {name for (name, *_) in connection.execute("PRAGMA function_list")}
    connection.close()
    assert known >= ALLOWED_FUNCTIONS


_NO_FILES = """
import resource, sqlite3
from aggregation.ondevice import sandbox
from aggregation.ondevice.sandbox import Sandbox, Table
sandbox.MAX_SECONDS = 60  # a busy machine is not the point here
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # whoever writes to a file fails
rows = [(str(n) * 40,) for n in range(20_000)]
sql = "SELECT a FROM t ORDER BY a DESC"
found = Sandbox([Table("t", {"a": "TEXT"})], sql, max_rows=20_000).run({"t": rows}, columns=1)
assert len(found) == 20_000
plain = sqlite3.connect(":memory:")
plain.execute("CREATE TABLE t (a TEXT)")
plain.executemany("INSERT INTO t VALUES (?)", rows)
try:
    plain.execute(sql).fetchall()
except sqlite3.OperationalError:
    print("a plain connection spills")
"""


def test_sorting_never_spills_to_a_file() -> None:
    command = [sys.executable, "-c", _NO_FILES]
    root = Path(aggregation.__file__).parents[1]
    done = subprocess.run(
        command, cwd=root, capture_output=True, timeout=60, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "a plain connection spills\n"


def test_memory_is_limited_for_the_whole_process() -> None:
    run("SELECT 1")
    connection = sqlite3.connect(":memory:")
    [(limit,)] = connection.execute("PRAGMA hard_heap_limit").fetchall()
    connection.close()
    assert 0 < limit <= module.HEAP_BYTES
