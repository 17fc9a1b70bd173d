"""What SQLite cannot read is refused where SQLite stops, and nothing else is."""

import json
import sqlite3
from contextlib import closing

import pytest

from aggregation.compiler.parse import line_and_column
from aggregation.compiler.report import compile_text
from aggregation.compiler.sqlite_reading import not_read_by_sqlite
from tests.aggregation.compiler.corpus import BASE, catalog

CATALOG = catalog()
START = "SELECT activity, privacy_time_unit, COUNT(*) AS n"
GROUP = "GROUP BY activity, privacy_time_unit"


@pytest.mark.parametrize(
    ("query", "word"),
    [
        (f"{START} FROM trips {GROUP} §WHERE hour_of_day > 7", "WHERE"),
        (f"{START} FROM trips {GROUP} HAVING n > 1 §WHERE hour_of_day > 7", "WHERE"),
        (f"{START} FROM trips ORDER BY n §WHERE hour_of_day > 7 {GROUP}", "WHERE"),
        (f"{START} FROM trips ORDER BY n §{GROUP}", "GROUP"),
        (f"{START} FROM trips WHERE hour_of_day BETWEEN 7 §9 {GROUP}", "9"),
        (f"{START}, SUM(CASE WHEN hour_of_day > 1 §1 ELSE 0 END) AS m FROM trips {GROUP}", "1"),
        (f"{START}, COUNT(*) FILTER (§hour_of_day > 7) AS m FROM trips {GROUP}", "hour_of_day"),
        (f"WITH d (§SELECT region FROM trips) {START} FROM trips {GROUP}", "SELECT"),
        (f"{START} FROM trips §* {GROUP}", "*"),
        (f"{START} FROM trips WHERE §!hour_of_day {GROUP}", "!"),
        (f"{START} FROM trips WHERE hour_of_day <=§> 7 {GROUP}", ">"),
        (f"{START} FROM trips WHERE hour_of_day > 7 §{{# AND 1 #}} {GROUP}", "{"),
        (f"{START} FROM trips /* > */\nWHERE '>' = '>' AND hour_of_day <=§> 7 {GROUP}", ">"),
    ],
)
def test_it_says_where_sqlite_stops(query: str, word: str) -> None:
    at, query = query.index("§"), query.replace("§", "")
    place = line_and_column(query, at)
    assert _said(client_sql=query) == [
        ("syntax", "client_sql", place, f"SQLite cannot read the statement at {word!r}.")
    ]
    with closing(sqlite3.connect(":memory:")) as device, pytest.raises(sqlite3.OperationalError):
        device.execute(query)


def test_every_query_of_a_spec_is_read() -> None:
    outer = "SELECT activity, privacy_time_unit, SUM(n) AS n"
    nested = f"{outer}\nFROM ({START} FROM trips * {GROUP}) {GROUP}"
    server = f"{outer} FROM device_results * {GROUP}"
    said = "SQLite cannot read the statement at '*'."
    assert _said(server_sql=server) == [("syntax", "server_sql", (1, 69), said)]
    found = _said(sql=nested, client_sql=None, server_sql=None)
    assert found == [("syntax", "sql", (2, 68), said)]
    asked = "SELECT windows_waiting >= 2 FROM device_facts *"
    assert _said(eligibility={"sql": asked}) == [("syntax", "eligibility.sql", (1, 47), said)]


def test_what_a_rule_has_refused_is_not_refused_again() -> None:
    query = f"{START} FROM trips * WHERE activty = 'bus' {GROUP}"
    assert [rule for rule, *_ in _said(client_sql=query)] == ["unknown_column"]


def test_what_breaks_off_is_said_at_its_end() -> None:
    (found,) = not_read_by_sqlite("SELECT a FROM t WHERE \n")
    assert (found.message, found.at) == ("The statement breaks off.", 21)


def test_what_sqlite_has_its_own_words_for_is_told_in_them() -> None:
    (found,) = not_read_by_sqlite("SELECT a FROM t ORDER BY a UNION ALL SELECT a FROM u")
    said = "ORDER BY clause should come after UNION ALL not before"
    assert found.message == f"SQLite cannot read the statement: {said}."


@pytest.mark.parametrize(
    "query",
    [
        "SELECT no_such_column FROM no_such_table",
        "SELECT no_such_function(a, b) FROM t GROUP BY 9",
        "-- SELECT (\nSELECT a FROM t; /* ( */ ;",
        "SELECT a FROM t WHERE " + " AND ".join(["a > 1"] * 1200),
        "SELECT " + "(" * 120 + "a" + ")" * 120 + " FROM t",
    ],
)
def test_what_is_wrong_in_another_way_is_left_to_others(query: str) -> None:
    assert list(not_read_by_sqlite(query)) == []


def test_sqlite_is_stopped_before_it_does_anything(tmp_path) -> None:
    for query in (f"ATTACH '{tmp_path}/x' AS x", "SELECT 1", "CREATE TABLE t (a)"):
        assert list(not_read_by_sqlite(query)) == []
    assert list(tmp_path.iterdir()) == []


def _said(**changed: object) -> list[tuple[str, str, tuple[int, int], str]]:
    document = {k: v for k, v in {**BASE, **changed}.items() if v is not None}
    code, report = compile_text(json.dumps(document), CATALOG)
    assert code == 1
    found = [d for d in report["diagnostics"] if d["severity"] == "refusal"]
    return [(d["rule"], d["part"], (d["line"], d["column"]), d["message"]) for d in found]
