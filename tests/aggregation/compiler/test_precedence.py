"""Operators without brackets mean on a device what they mean in SQLite, or are refused."""

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import product

import pytest

from aggregation.compiler.report import compile_text
from tests.aggregation.compiler.corpus import BASE, catalog

CATALOG = catalog()
SIZES = {"everyday": 500, "full": 20_000}
NUMBERS = [None, 0, 1, 2, 3]

ATOMS = ["rating", "latency_ms", "day_of_week", "0", "1", "2", "3", "NULL", "-1", "-rating"]
BETWEEN_TWO = ["+", "-", "*", "/", "%", "=", "==", "<>", "!=", "<", "<=", ">", ">="]
BETWEEN_TWO += ["IS", "IS NOT", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "AND", "OR"]
AFTER_ONE = ["IN (1)", "NOT IN (0, 2)", "IS NULL", "IS NOT NULL", "ISNULL", "NOTNULL", "NOT NULL"]
AFTER_ONE += ["IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"]


def test_what_is_accepted_means_the_same(size: str) -> None:
    rng = random.Random(11)
    accepted = 0
    with _events() as connection:
        for _ in range(SIZES[size]):
            expression = _expression(rng)
            code, report = compile_text(json.dumps(_document(expression)), CATALOG)
            assert all(d["rule"] != "internal" for d in report["diagnostics"]), expression
            if code == 0:
                accepted += 1
                shipped = _values(connection, report["client_task"]["sql"])
                assert shipped == _values(connection, _query(expression)), expression
    # A test that accepts nothing would test nothing.
    assert accepted > SIZES[size] / 10


@pytest.mark.parametrize(
    "expression",
    [
        "rating < 3 IN (1)",
        "rating = 2 BETWEEN 0 AND 1",
        "rating < 3 NOT IN (1)",
        "1 NOT BETWEEN 0 AND 1 < rating",
        "NOT 3 ISNULL - rating",
    ],
)
def test_what_would_mean_something_else_is_refused(expression: str) -> None:
    code, report = compile_text(json.dumps(_document(expression)), CATALOG)
    assert code == 1
    assert [d["rule"] for d in report["diagnostics"]] == ["missing_brackets"]


@pytest.mark.parametrize(
    "expression",
    [
        "(rating < 3) IN (1)",
        "rating < (3 IN (1))",
        "rating = (2 BETWEEN 0 AND 1)",
        "NOT (3 ISNULL) - rating",
        "NOT rating IN (1, 2) AND latency_ms IS NOT NULL",
        "NOT rating BETWEEN 1 AND 2 OR rating + 1 IS NULL",
        "rating < 3 = 1",
        "1 IN (NOT rating, rating IS NULL)",
    ],
)
def test_what_has_its_brackets_is_accepted(expression: str) -> None:
    code, report = compile_text(json.dumps(_document(expression)), CATALOG)
    assert code == 0, report["diagnostics"]
    with _events() as connection:
        shipped = _values(connection, report["client_task"]["sql"])
        assert shipped == _values(connection, _query(expression))


def _expression(rng: random.Random) -> str:
    words = [_atom(rng)]
    for _ in range(rng.randint(1, 4)):
        match rng.randrange(6):
            case 0:
                words.append(rng.choice(AFTER_ONE))
            case 1:
                negated = rng.choice(["", "NOT "])
                words.append(f"{negated}BETWEEN {_atom(rng)} AND {_atom(rng)}")
            case _:
                words.append(f"{rng.choice(BETWEEN_TWO)} {_atom(rng)}")
    return " ".join(words)


def _atom(rng: random.Random) -> str:
    return rng.choice(["", "", "", "NOT "]) + rng.choice(ATOMS)


def _query(expression: str) -> str:
    return (
        f"SELECT feature, hour_of_day, privacy_time_unit, MAX({expression}) AS n "
        "FROM assistant GROUP BY feature, hour_of_day, privacy_time_unit"
    )


def _document(expression: str) -> dict[str, object]:
    asked = (
        "SELECT feature, hour_of_day, privacy_time_unit, SUM(n) AS n "
        "FROM device_results GROUP BY feature, hour_of_day, privacy_time_unit"
    )
    parts = {"client_sql": _query(expression), "server_sql": asked}
    return {**BASE, "streams": ["assistant"], **parts}


@contextmanager
def _events() -> Iterator[sqlite3.Connection]:
    """Each event is a group of its own, so that a maximum is its value."""
    with closing(sqlite3.connect(":memory:")) as connection:
        columns = "feature, hour_of_day, privacy_time_unit, rating, latency_ms, day_of_week"
        connection.execute(f"CREATE TABLE assistant ({columns})")
        rows = [
            (str(number), 0, "2026-11-09", *values)
            for number, values in enumerate(product(NUMBERS, [0.5, 1.0, 2.0], [0, 1, 3]))
        ]
        connection.executemany("INSERT INTO assistant VALUES (?, ?, ?, ?, ?, ?)", rows)
        yield connection


def _values(connection: sqlite3.Connection, sql: str) -> list[tuple[object, ...]]:
    return sorted(connection.execute(sql).fetchall())
