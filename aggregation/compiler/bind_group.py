"""Bind GROUP BY: columns, expressions, aliases, and positions of the SELECT's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from aggregation.compiler.bind_expression import Expressions, folded
from aggregation.compiler.tree import Expr, Opaque

if TYPE_CHECKING:
    from aggregation.compiler.bind import Binder


def group_terms(binder: Binder, group: exp.Group, expressions: Expressions) -> tuple[Expr, ...]:
    found = [_term(binder, node, expressions) for node in group.expressions]
    if not any(group.args.values()):
        hint = "Name the columns, or leave GROUP BY out."
        binder.refuse("syntax", group, "GROUP BY names nothing here.", hint)
    # ROLLUP and the like have no terms; they are refused elsewhere.
    return tuple(dict.fromkeys(found)) or (Opaque(binder.statement.at(group)),)


def _term(binder: Binder, node: exp.Expr, expressions: Expressions) -> Expr:
    items = expressions.scope.items
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        place = int(node.name) if len(node.name) < 6 else 0
        if 1 <= place <= len(items):
            return expressions.again(items[place - 1].value, binder.statement.at(node))
        message = f"GROUP BY {node.name[:20]} names no column of the SELECT."
        binder.refuse("group_position", node, message, f"There are {len(items)}.")
        return Opaque(binder.statement.at(node))
    value = expressions.bind(node)
    if isinstance(node, exp.Column) and not node.table:
        _judge(binder, node, value, expressions)
    return value


def _judge(binder: Binder, node: exp.Column, value: Expr, expressions: Expressions) -> None:
    """GROUP BY x where x is a column and, as an alias, something else."""
    name = folded(node.name)
    other = expressions.scope.alias(name)
    if other is not None and other != value and not isinstance(value, Opaque):
        message = f"{name} is a column and also the alias of something else; "
        message += "GROUP BY takes the column."
        hint = "Rename the alias, or group by the column's position."
        binder.refuse("ambiguous_group", node, message, hint)
