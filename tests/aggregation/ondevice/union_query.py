"""One DuckDB statement over the union of all devices: what a task's queries mean, taken literally.

It starts from the analyst's own text, not from what the compiler made of it. The client query
runs once per device over that device's rows, the server query over all of its results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb
import sqlglot
from sqlglot import exp

from aggregation.protocol.spec import Spec
from aggregation.protocol.streams import Catalog

Result = list[dict[str, object]]


class Union:
    """The rows of all devices in one database."""

    def __init__(
        self, catalog: Catalog, tables: Mapping[str, Sequence[dict[str, object]]], devices: int
    ) -> None:
        self._streams, self._devices = list(tables), devices
        self._connection = duckdb.connect(":memory:", config={"threads": "1"})
        self._connection.execute(_DIVISION)
        for name, rows in tables.items():
            _fill(self._connection, name, catalog, rows)

    def ask(self, spec: Spec) -> Result:
        """The server query's rows, by column name in lower case."""
        found = self._connection.execute(union_query(spec, self._streams, self._devices))
        names = [column[0].lower() for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def union_query(spec: Spec, streams: Sequence[str], devices: int) -> str:
    client, server = _halves(spec)
    template = _for_device(_as_sqlite_means(client), streams)
    per_device = [template.replace(_SOME_DEVICE, f"device = {n}") for n in range(devices)]
    union = " UNION ALL ".join(f"SELECT * FROM ({sql})" for sql in per_device)
    return f"WITH device_results AS ({union}) {server.sql('duckdb')}"


_SOME_DEVICE = "device = 987654321"


def _halves(spec: Spec) -> tuple[exp.Expr, exp.Expr]:
    if spec.sql is None:
        return _parsed(spec.client_sql or ""), _parsed(spec.server_sql or "")
    outer = _parsed(spec.sql)
    assert isinstance(outer, exp.Select)
    inner = outer.args["from_"].this
    table = exp.to_table("device_results")
    table.set("alias", exp.TableAlias(this=exp.to_identifier(inner.alias_or_name or "x")))
    if isinstance(inner, exp.Subquery):
        client = inner.this.copy()
    else:
        client = exp.select("*").from_(exp.to_table(inner.name))
    if steps := outer.args.get("with_"):
        client.set("with_", steps.copy())
    server = outer.copy()
    server.set("with_", None)
    server.args["from_"].set("this", table)
    return client, server


def _parsed(sql: str) -> exp.Expr:
    [statement] = [s for s in sqlglot.parse(sql, read="sqlite") if s is not None]
    return statement


def _for_device(client: exp.Expr, streams: Sequence[str]) -> str:
    own = client.copy()
    for table in list(own.find_all(exp.Table)):
        name = table.name.lower()
        if name in streams:
            rows = exp.select("* EXCLUDE (device)").from_(f"{name}_of_all")
            rows = rows.where(_SOME_DEVICE)
            table.replace(rows.subquery(table.alias or table.name))
    return own.sql("duckdb")


# Whole numbers divide to a whole number in SQLite, and only there.
_DIVISION = """
CREATE MACRO sqlite_divided(a, b) AS CASE
    WHEN b = 0 THEN NULL
    WHEN typeof(a) LIKE '%INT%' AND typeof(b) LIKE '%INT%' THEN trunc(CAST(a AS DOUBLE) / b)
    ELSE CAST(a AS DOUBLE) / b END
"""


def _as_sqlite_means(client: exp.Expr) -> exp.Expr:
    """The query with what SQLite does and DuckDB does not written out."""
    return client.copy().transform(_written_out)


def _written_out(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Cast) and node.to.this in exp.DataType.INTEGER_TYPES:
        return _whole(node.this)
    if isinstance(node, exp.Mod):
        return exp.Mod(this=_whole(node.this), expression=_whole(node.expression))
    if isinstance(node, exp.Div):
        return exp.func("sqlite_divided", node.this.copy(), node.expression.copy())
    if isinstance(node, exp.Anonymous) and node.name.lower() == "total":
        return exp.func("coalesce", exp.Sum(this=node.expressions[0]), exp.Literal.number(0))
    if isinstance(node, exp.Predicate) and not isinstance(node.parent, _TRUTH_IS_FINE):
        return exp.Cast(this=exp.paren(node.copy()), to=exp.DataType.build("INT"))
    return node


# Where DuckDB takes a truth value; elsewhere SQLite has a number.
_TRUTH_IS_FINE = (exp.Where, exp.Having, exp.If, exp.And, exp.Or, exp.Not, exp.Paren, exp.Join)
_TRUTH_IS_FINE += (exp.Case, exp.Filter)


def _whole(node: exp.Expr) -> exp.Expr:
    return exp.Cast(this=exp.func("trunc", node.copy()), to=exp.DataType.build("BIGINT"))


_TYPES = {"text": "VARCHAR", "integer": "BIGINT", "real": "DOUBLE"}


def _fill(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    catalog: Catalog,
    rows: Sequence[dict[str, object]],
) -> None:
    stream = catalog.stream(name)
    assert stream is not None
    columns = {"device": "INTEGER"}
    columns |= {c.name: _TYPES[c.type] for c in stream.columns if c.queryable}
    declared = ", ".join(f"{column} {kind}" for column, kind in columns.items())
    connection.execute(f"CREATE TABLE {name}_of_all ({declared})")
    if rows:
        places = ", ".join(["(" + ", ".join("?" * len(columns)) + ")"] * len(rows))
        values = [row[column] for row in rows for column in columns]
        connection.execute(f"INSERT INTO {name}_of_all VALUES {places}", values)
