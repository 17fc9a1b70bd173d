"""The closed list of syntax: node classes and the arguments each may carry.

The parser knows every dialect; new versions will know more. Whatever is not listed here is
refused, so an unknown clause can never be passed over in silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final

from sqlglot import exp

from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.guard.syntax import Hit
from aggregation.compiler.parse import Statement

_BINARY: Final = frozenset({"this", "expression"})
_UNARY: Final = frozenset({"this"})

_SHAPES: Final[dict[type[exp.Expr], frozenset[str]]] = {
    exp.Select: frozenset(
        {"with_", "distinct", "expressions", "from_", "joins", "where", "group", "having", "order"}
    ),
    exp.Union: frozenset({"with_", "this", "expression", "distinct", "order"}),
    exp.With: frozenset({"expressions"}),
    exp.CTE: frozenset({"this", "alias", "materialized"}),
    exp.Subquery: frozenset({"this", "alias", "with_"}),
    exp.Table: frozenset({"this", "alias", "db", "catalog"}),
    exp.TableAlias: frozenset({"this", "columns"}),
    exp.From: _UNARY,
    exp.Join: frozenset({"this", "side", "kind", "on", "using"}),
    exp.Where: _UNARY,
    exp.Group: frozenset({"expressions"}),
    exp.Having: _UNARY,
    exp.Order: frozenset({"expressions"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Distinct: frozenset({"expressions"}),
    exp.Alias: frozenset({"this", "alias"}),
    exp.Column: frozenset({"this", "table", "db", "catalog"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Boolean: _UNARY,
    exp.Null: frozenset(),
    exp.Star: frozenset(),
    exp.Paren: _UNARY,
    exp.Neg: _UNARY,
    exp.Not: _UNARY,
    exp.Add: _BINARY,
    exp.Sub: _BINARY,
    exp.Mul: _BINARY,
    exp.Div: _BINARY | {"typed", "safe"},
    exp.Mod: _BINARY,
    exp.And: _BINARY,
    exp.Or: _BINARY,
    exp.EQ: _BINARY,
    exp.NEQ: _BINARY,
    exp.LT: _BINARY,
    exp.LTE: _BINARY,
    exp.GT: _BINARY,
    exp.GTE: _BINARY,
    exp.Is: _BINARY,
    exp.NullSafeEQ: _BINARY,
    exp.NullSafeNEQ: _BINARY,
    exp.Between: frozenset({"this", "low", "high"}),
    exp.In: frozenset({"this", "expressions", "query"}),
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.If: frozenset({"this", "true", "false"}),
    exp.Cast: frozenset({"this", "to"}),
    exp.DataType: frozenset({"this", "nested"}),
    exp.Filter: _BINARY,
    exp.Count: frozenset({"this", "big_int"}),
    exp.Sum: _UNARY,
    exp.Avg: _UNARY,
    exp.Min: _UNARY,
    exp.Max: _UNARY,
    exp.Abs: _UNARY,
    exp.Round: frozenset({"this", "decimals"}),
    exp.Coalesce: frozenset({"this", "expressions"}),
    exp.Nullif: _BINARY,
    exp.Greatest: frozenset({"this", "expressions"}),
    exp.Least: frozenset({"this", "expressions"}),
    exp.Anonymous: frozenset({"this", "expressions"}),
}


def unsupported(statement: Statement, refused: Set[int]) -> Iterator[Hit]:
    """Syntax that no other rule has refused and that is not on the list."""
    for node in statement.nodes:
        if id(node) in refused:
            continue
        extra = _extra(node, refused)
        if extra is not None:
            message = f"{extra} cannot be used in a query here."
            hint = "Use SELECT, FROM, JOIN … ON, WHERE, GROUP BY, HAVING, WITH and subqueries."
            yield node, Finding(message, hint, at=statement.at(node))


def _extra(node: exp.Expr, refused: Set[int]) -> str | None:
    """What a node has beyond its shape, in words."""
    allowed = _SHAPES.get(type(node))
    if allowed is None:
        return type(node).__name__.upper()
    for name, value in node.args.items():
        if name not in allowed and value not in (None, False, [], "") and not _said(value, refused):
            if isinstance(value, exp.Expr | list):
                return name.strip("_").replace("_", " ").upper()
            return f"{type(node).__name__} with {name.strip('_').replace('_', ' ')}"
    return None


def _said(value: object, refused: Set[int]) -> bool:
    """Whether another rule has refused all of an argument already."""
    parts = value if isinstance(value, list) else [value]
    return all(isinstance(p, exp.Expr) and id(p) in refused for p in parts)
