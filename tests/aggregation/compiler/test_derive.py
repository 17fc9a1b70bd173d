"""What the server derives from sums is what the query says, as SQLite would read it."""

import json
import sqlite3
from contextlib import closing

import pytest

from aggregation.compiler.report import compile_text
from tests.aggregation.compiler.corpus import BASE, catalog

CLIENT = (
    "SELECT activity, privacy_time_unit, COUNT(*) AS n, SUM(distance_km) AS km "
    "FROM trips GROUP BY activity, privacy_time_unit"
)


@pytest.mark.parametrize(
    "factor",
    [
        "2.7",
        "-3 * 0.5",
        "CAST(2 AS REAL)",
        "CAST(2.7 AS INTEGER)",
        "CAST(-2.7 AS INTEGER)",
        "CAST(1.5 * 3 AS INTEGER)",
        "CAST(CAST(2.7 AS REAL) AS INTEGER)",
    ],
)
def test_a_factor_is_the_number_that_sqlite_makes_of_it(factor: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        (number,) = connection.execute(f"SELECT {factor}").fetchone()
    report = _compiled(f"({factor}) * SUM(km) / SUM(n) AS x")
    assert report["server_config"]["derived"][0]["factor"] == number


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("ROUND(SUM(km), 1)", "ROUND"),
        ("CAST(SUM(km) AS INTEGER)", "CAST"),
        ("100 * (CAST(SUM(km) AS INTEGER) / SUM(n))", "CAST"),
        ("SUM(km) + ROUND(SUM(n))", "ROUND"),
        ("CASE WHEN SUM(n) > 0 THEN ROUND(SUM(km) / SUM(n)) END", "ROUND"),
        ("CAST(SUM(km) AS REAL)", ""),
        ("SUM(CAST(km AS INTEGER))", ""),
        ("SUM(ROUND(km)) * CAST(2.7 AS INTEGER)", ""),
    ],
)
def test_rounding_across_devices_is_left_out_with_a_word(value: str, word: str) -> None:
    found = [d for d in _compiled(f"{value} AS x")["diagnostics"] if d["rule"] != "unused_column"]
    said = [(d["rule"], d["hint"]) for d in found]
    hint = f"Leave {word} out: pages round when they show it."
    assert said == ([("rounding_ignored", hint)] if word else [])


def _compiled(column: str) -> dict[str, object]:
    asked = f"SELECT activity, privacy_time_unit, {column} FROM device_results GROUP BY 1, 2"
    document = {**BASE, "client_sql": CLIENT, "server_sql": asked}
    code, report = compile_text(json.dumps(document), catalog())
    assert code == 0, report["diagnostics"]
    return report
