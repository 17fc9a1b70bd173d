"""What the server derives from sums is what the query says, as SQLite would read it."""

import json
import sqlite3
from contextlib import closing
from typing import Any

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
    ("factor", "number"),
    [
        ("(1.0/1000)", 1 / 1000),
        ("(60/1000)", 60 / 1000),
        ("(-1/3)", -1 / 3),
        ("(2 * (7/2))", 7.0),
        ("CAST(7/2 AS INTEGER)", 3.0),
        ("(1/(1/60))", 1 / (1 / 60)),
    ],
)
def test_a_factor_may_be_divided(factor: str, number: float) -> None:
    """By real division, before and after what it multiplies; a sum is scaled on the device."""
    for value in (f"{factor} * SUM(km) / SUM(n)", f"SUM(km) / SUM(n) * {factor}"):
        derived = _compiled(f"{value} AS x")["server_config"]["derived"]
        assert derived[0]["factor"] == number
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE trips (activity, privacy_time_unit, distance_km REAL)")
        connection.execute("INSERT INTO trips VALUES ('bus', '2026-11-09', 3.5)")
        sql = _compiled(f"SUM(km) * {factor} AS x")["client_task"]["sql"]
        assert connection.execute(sql).fetchone()[2] == pytest.approx(3.5 * number, rel=1e-14)


def test_what_is_divided_by_0_is_no_factor() -> None:
    said = "A sum can only be multiplied by a plain number."
    assert _refusals("1/0 * SUM(km) AS x") == _refusals("SUM(km) * (1/(2-2)) AS x") == [said]
    assert _refusals("SUM(n) * SUM(km) AS x") == ["Two sums cannot be multiplied."]


@pytest.mark.parametrize(
    "guarded",
    [
        "CASE WHEN 0 < SUM(n) THEN SUM(km) / SUM(n) END",
        "CASE WHEN 0 <> SUM(n) THEN SUM(km) / SUM(n) END",
        "CASE WHEN 0 = SUM(n) THEN NULL ELSE SUM(km) / SUM(n) END",
        "IIF(0 >= SUM(n), NULL, SUM(km) / SUM(n))",
    ],
)
def test_a_guard_may_begin_with_its_0(guarded: str) -> None:
    plain = _compiled("SUM(km) / SUM(n) AS x")
    assert _compiled(f"{guarded} AS x")["server_config"] == plain["server_config"]


@pytest.mark.parametrize("condition", ["0 > SUM(n)", "0 <= SUM(n)", "0 = SUM(n)", "0 < -SUM(n)"])
def test_a_condition_that_keeps_nothing_from_0_is_no_guard(condition: str) -> None:
    said = "CASE across devices can only keep a ratio from being divided by 0."
    assert _refusals(f"CASE WHEN {condition} THEN SUM(km) / SUM(n) END AS x") == [said]


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


def _compiled(column: str) -> dict[str, Any]:
    code, report = _report(column)
    assert code == 0, report["diagnostics"]
    return report


def _refusals(column: str) -> list[str]:
    code, report = _report(column)
    assert code == 1
    return [d["message"] for d in report["diagnostics"] if d["severity"] == "refusal"]


def _report(column: str) -> tuple[int, dict[str, Any]]:
    asked = f"SELECT activity, privacy_time_unit, {column} FROM device_results GROUP BY 1, 2"
    return compile_text(json.dumps({**BASE, "client_sql": CLIENT, "server_sql": asked}), catalog())
