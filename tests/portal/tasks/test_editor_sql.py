"""Laying a query out, nesting two into one and taking one apart leave the meaning alone."""

import msgspec
import pytest

from aggregation.compiler import Compiled, compile_spec
from aggregation.errors import Problem
from portal.tasks.editor_format import formatted
from portal.tasks.editor_sql import combined, pieces_of, taken_apart
from portal.tasks.starting_points import starting_points
from tests.aggregation.compiler.corpus import cases
from tests.aggregation.compiler.corpus import catalog as corpus_catalog

CATALOG = corpus_catalog()
GOOD = {case.name: case for case in cases("good")}
QUERIES = ("client_sql", "server_sql", "sql")


def test_it_puts_a_clause_on_a_line():
    sql = "select activity, privacy_time_unit, count(*) as n from trips where a=1 and b = 2"
    sql += " group by 1,2"
    assert formatted(sql) == (
        "SELECT activity, privacy_time_unit,\n"
        "       count(*) AS n\n"
        "FROM trips\n"
        "WHERE a = 1\n"
        "  AND b = 2\n"
        "GROUP BY 1, 2\n"
    )


def test_comments_are_kept_where_they_were():
    sql = (
        "-- all of it\nSELECT a, -- the key\n  b /* two */ FROM trips -- every trip\n"
        "-- and\nGROUP BY a; -- end"
    )
    text = formatted(sql)
    assert text.splitlines()[0] == "-- all of it"
    assert "SELECT a, -- the key" in text
    assert "b /* two */" in text
    assert "FROM trips -- every trip" in text
    assert text.endswith("GROUP BY a; -- end\n")


@pytest.mark.parametrize("name", GOOD)
def test_a_laid_out_query_compiles_to_the_same_task(name):
    spec = GOOD[name].spec
    texts = {part: getattr(spec, part) for part in QUERIES if getattr(spec, part) is not None}
    laid_out = {part: formatted(sql) for part, sql in texts.items()}
    before = compile_spec(spec, CATALOG)
    after = compile_spec(msgspec.structs.replace(spec, **laid_out), CATALOG)
    assert isinstance(before, Compiled)
    assert isinstance(after, Compiled)
    assert after.client_task.sha256 == before.client_task.sha256
    assert after.server_config.sha256 == before.server_config.sha256
    assert {part: formatted(sql) for part, sql in laid_out.items()} == laid_out


@pytest.mark.parametrize("sql", ["SELECT 'no end", "/* open", "", "  -- only words"])
def test_what_cannot_be_read_is_left_alone(sql):
    with pytest.raises(Problem):
        formatted(sql)


def _texts(point):
    spec = point.spec
    return (spec.client_sql, spec.server_sql) if spec.sql is None else taken_apart(spec.sql)


@pytest.mark.parametrize("point", starting_points(), ids=lambda point: point.slug)
def test_two_queries_and_one_statement_are_the_same_task(point, catalog):
    client, server = _texts(point)
    two = msgspec.structs.replace(point.spec, sql=None, client_sql=client, server_sql=server)
    one = msgspec.structs.replace(
        point.spec, client_sql=None, server_sql=None, sql=combined(client, server)
    )
    both = [compile_spec(spec, catalog) for spec in (two, one)]
    assert both[0].client_task.sha256 == both[1].client_task.sha256
    again = taken_apart(one.sql)
    assert [pieces_of(sql).said for sql in again] == [
        pieces_of(sql).said for sql in (client, server)
    ]


def test_comments_survive_nesting_and_taking_apart():
    client = (
        "SELECT a, privacy_time_unit, COUNT(*) AS n -- how many\nFROM trips -- all\nGROUP BY 1, 2\n"
    )
    server = "-- the sum\nSELECT a, SUM(n) AS n FROM device_results /* them */ GROUP BY a\n"
    one = combined(client, server)
    assert pieces_of(one).comments == ["-- the sum", "-- how many", "-- all", "/* them */"]
    back, outer = taken_apart(one)
    assert back == client
    assert "-- the sum" in outer
    assert "/* them */" in outer


@pytest.mark.parametrize("end", [";", " ; ;", "; -- done", "; /* ; */ ;\n-- done;"])
def test_a_semicolon_before_a_comment_ends_the_inner_query_too(end):
    one = combined(f"SELECT a FROM t{end}", "SELECT a FROM device_results;")
    kinds = [piece.text for piece in pieces_of(one).items]
    assert kinds.count(";") == 1
    assert pieces_of(one).comments == pieces_of(f"SELECT 1{end}").comments


def test_an_alias_of_the_inner_query_stays():
    client, server = taken_apart(
        "SELECT d.a, SUM(d.n) AS n FROM (SELECT a, n FROM t) AS d GROUP BY d.a"
    )
    assert client == "SELECT a, n FROM t\n"
    assert server == "SELECT d.a, SUM(d.n) AS n FROM device_results AS d GROUP BY d.a\n"
    assert "(\n  SELECT a, n FROM t\n) AS d" in combined(client, server)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM t",
        "WITH x AS (SELECT 1) SELECT a FROM x",
        "SELECT a FROM (t JOIN u)",
        "SELECT (",
    ],
)
def test_other_statements_are_not_taken_apart(sql):
    with pytest.raises(Problem):
        taken_apart(sql)


def test_a_server_query_without_the_table_is_not_nested():
    with pytest.raises(Problem, match="device_results"):
        combined("SELECT 1", "SELECT a FROM trips")
    with pytest.raises(Problem, match="device_results"):
        combined("SELECT 1", "SELECT device_results.a FROM device_results")
