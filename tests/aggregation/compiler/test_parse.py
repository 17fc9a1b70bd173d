"""Parsing: one statement, every node with its place."""

import sqlite3
from contextlib import closing

import pytest
from sqlglot import exp

from aggregation.compiler.parse import Statement, Unparsed, line_and_column, parse

QUERY = "SELECT a,\n  CASE WHEN b THEN 1 END, CAST(c AS INT)\nFROM t\nLIMIT 3"


def test_it_works() -> None:
    statement = parse("client_sql", QUERY)
    assert isinstance(statement, Statement)
    places = {type(node): line_and_column(QUERY, statement.at(node)) for node in statement.nodes}
    assert places[exp.Select] == (1, 1)
    assert places[exp.Case] == (2, 3)
    assert places[exp.Cast] == (2, 27)
    assert places[exp.Table] == (3, 6)
    assert places[exp.Limit] == (4, 1)


@pytest.mark.parametrize("end", [";", " ; ", "; -- that is all", ";\n/* really */\n", " -- yes"])
def test_a_statement_may_end_with_a_semicolon_and_a_comment(end: str) -> None:
    assert isinstance(parse("sql", f"SELECT a FROM t{end}"), Statement)


@pytest.mark.parametrize("end", ["; SELECT 2", ";;SELECT 2", "; DROP TABLE t", ";;;x"])
def test_there_is_no_second_statement(end: str) -> None:
    found = parse("sql", f"SELECT a FROM t{end}")
    assert isinstance(found, Unparsed)
    assert found.rule == "one_statement"


@pytest.mark.parametrize(("at", "place"), [(0, (1, 1)), (8, (1, 9)), (10, (2, 1)), (12, (2, 3))])
def test_lines_and_columns_count_from_one(at: int, place: tuple[int, int]) -> None:
    assert line_and_column("SELECT a,\n  b", at) == place


@pytest.mark.parametrize(
    ("query", "column"),
    [
        ("SELECT a, FROM t", 9),
        ("SELECT a, /* b */ FROM t;", 9),
        ("SELECT ,a FROM t", 8),
        ("SELECT DISTINCT , a FROM t", 17),
        ("SELECT a,,b FROM t", 9),
        ("SELECT a FROM t,", 16),
        ("SELECT a FROM t WHERE a IN (1,)", 30),
        ("SELECT MAX(,a) FROM t", 12),
        ("SELECT a FROM t GROUP BY a, HAVING a > 1", 27),
        ("SELECT a FROM t GROUP BY a,;", 27),
        ("SELECT b FROM (SELECT a, FROM t)", 24),
        ("SELECT a, FROM t UNION ALL SELECT a FROM t", 9),
    ],
)
def test_a_loose_comma_is_refused_as_devices_would(query: str, column: int) -> None:
    found = parse("sql", query)
    assert isinstance(found, Unparsed)
    assert found.rule == "syntax"
    assert found.finding.message.startswith("A comma stands here with nothing")
    assert line_and_column(query, found.finding.at) == (1, column)
    with closing(sqlite3.connect(":memory:")) as device, pytest.raises(sqlite3.OperationalError):
        device.execute(query)


@pytest.mark.parametrize(
    "query",
    [
        'SELECT a AS §\'b, "c" FROM t',
        "SELECT §'it''s, b /* hi */ FROM t",
        "SELECT 'it''s', §'b FROM t",
        "SELECT 'it''s' || §'''",
        "SELECT a §/* 'never' closed [ FROM t",
        "SELECT a §{# 'never' closed FROM t",
        "SELECT a -- it's\n, §'b FROM t",
        "SELECT a /* it's */, §\"b FROM t WHERE c = 'd'",
        'SELECT "a ""b", \'"\', §"c',
        "SELECT [a'b], `c'd`, §`e FROM t",
        "SELECT §[a FROM t WHERE b = 'c'",
    ],
)
def test_what_is_never_closed_is_told_of_where_it_opens(query: str) -> None:
    at, query = query.index("§"), query.replace("§", "")
    found = parse("sql", query)
    assert isinstance(found, Unparsed)
    assert found.finding.message == "A text or a comment is opened and never closed."
    assert found.finding.at == at


def test_a_column_may_be_called_as_a_clause() -> None:
    """Where it is quoted, as SQLite has it."""
    assert isinstance(parse("sql", 'SELECT a, "from", b AS "all", c FROM t'), Statement)
