"""IS TRUE and IS FALSE mean on a device what they mean in SQLite."""

import json
import sqlite3
from contextlib import closing

import pytest

from aggregation.compiler.report import compile_text
from tests.aggregation.compiler.corpus import BASE, catalog

NUMBERS = [0, 0.0, 1, 2, -1, 0.5, 7, None]


TESTS = ["IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE", "IS (TRUE)", "IS NOT ((FALSE))"]
TESTS += ["IS DISTINCT FROM TRUE", "IS DISTINCT FROM FALSE"]
TESTS += ["IS NOT DISTINCT FROM TRUE", "IS NOT DISTINCT FROM (FALSE)"]


@pytest.mark.parametrize("test", TESTS)
def test_it_means_the_same(test: str) -> None:
    written = (
        "SELECT activity, privacy_time_unit, COUNT(*) AS n FROM trips "
        f"WHERE distance_km {test} GROUP BY activity, privacy_time_unit"
    )
    code, report = compile_text(json.dumps({**BASE, "client_sql": written}), catalog())
    assert code == 0, report["diagnostics"]
    assert _counted(report["client_task"]["sql"]) == _counted(written)


def _counted(sql: str) -> list[tuple[str, str, int]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE trips (activity, privacy_time_unit, distance_km)")
        rows = [("bus", "2026-11-09", number) for number in NUMBERS]
        connection.executemany("INSERT INTO trips VALUES (?, ?, ?)", rows)
        return connection.execute(sql).fetchall()
