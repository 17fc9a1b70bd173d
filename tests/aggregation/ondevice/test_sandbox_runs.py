"""What one run of a sandbox leaves to the next, and to the machine: nothing."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import aggregation
from aggregation.ondevice import sandbox as module
from aggregation.ondevice.sandbox import QueryFailed, Row, Sandbox
from tests.aggregation.ondevice.sandboxed import ROWS, TRIPS, run


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
