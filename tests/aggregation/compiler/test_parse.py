"""Parsing: one statement, every node with its place."""

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
