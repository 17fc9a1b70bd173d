"""Rules on the parser's tree: statements and clauses that never run on a device.

Each rule yields the nodes it refuses with a finding. What no rule knows is refused by
`unsupported`, so the tree is open to nothing by default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from sqlglot import exp

from aggregation.compiler import bounds
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.parse import Statement
from aggregation.compiler.parser import without_added_brackets

Hit = tuple[exp.Expr, Finding]
SyntaxRule = Callable[[Statement], Iterator[Hit]]

_OPERATORS: Final = (
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ,
    exp.Between, exp.In, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg,
)  # fmt: skip
_OPERANDS: Final = ("this", "expression", "low", "high")
_BOUND_DIFFERENTLY: Final = (exp.In, exp.Between, exp.Not, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ)
_TABLES_ONLY: Final = "Read a declared stream, or a subquery over one."


def hits(statement: Statement, nodes: Iterator[exp.Expr], message: str, hint: str) -> Iterator[Hit]:
    for node in nodes:
        yield node, Finding(message, hint, at=statement.at(node))


def select_only(statement: Statement) -> Iterator[Hit]:
    """Nothing but a query: no DDL, DML, ATTACH, PRAGMA or other command."""
    root = statement.root
    while isinstance(root, exp.Subquery | exp.Paren):
        root = root.this
    if not isinstance(root, exp.Query):
        message = "This statement is not a query."
        yield root, Finding(message, "Write one SELECT.", at=statement.at(root))
    for node in statement.of(exp.DML, exp.DDL, exp.Command, exp.Into):
        if node is not root and not isinstance(node, exp.Query):
            message = "Only SELECT is possible inside a query."
            yield node, Finding(message, "Remove it.", at=statement.at(node))


def star(statement: Statement) -> Iterator[Hit]:
    """`*` would carry whatever columns a stream gains later; only COUNT(*) is plain."""
    for node in statement.of(exp.Star):
        if not isinstance(node.parent, exp.Count):
            message = "`*` does not say which columns are read."
            yield node, Finding(message, "Name the columns.", at=statement.at(node))


def recursive(statement: Statement) -> Iterator[Hit]:
    for node in statement.of(exp.With):
        if node.args.get("recursive"):
            message = "A recursive WITH can make rows that no event stands for."
            yield node, Finding(message, "Remove RECURSIVE.", at=statement.at(node))


def limit(statement: Statement) -> Iterator[Hit]:
    """LIMIT picks rows, which singles out events."""
    nodes = statement.of(exp.Limit, exp.Fetch, exp.Offset)
    message = "LIMIT and OFFSET pick single rows."
    yield from hits(statement, nodes, message, "Aggregate the rows, or filter them with WHERE.")


def window_function(statement: Statement) -> Iterator[Hit]:
    """Window functions rank and pick rows."""
    nodes = statement.of(exp.Window, exp.Qualify, exp.WithinGroup, exp.IgnoreNulls)
    message = "Window functions (OVER) pick or number single rows."
    yield from hits(statement, nodes, message, "Use GROUP BY with COUNT, SUM, MIN, MAX or AVG.")


def set_operation(statement: Statement) -> Iterator[Hit]:
    """Of the set operations only UNION ALL keeps every row what it is."""
    for node in statement.of(exp.SetOperation):
        if isinstance(node, exp.Union) and not node.args.get("distinct"):
            continue
        message = f"{type(node).__name__.upper()} compares whole rows."
        hint = "Use UNION ALL for rows of different streams, or WHERE to leave rows out."
        yield node, Finding(message, hint, at=statement.at(node))


def parameter(statement: Statement) -> Iterator[Hit]:
    nodes = statement.of(exp.Placeholder, exp.Parameter, exp.SessionParameter)
    message = "A parameter has no value on a device."
    yield from hits(statement, nodes, message, "Write the value.")


def collation(statement: Statement) -> Iterator[Hit]:
    message = "COLLATE changes which texts are equal, and so what a key is."
    yield from hits(statement, statement.of(exp.Collate), message, "Remove it.")


def row_value(statement: Statement) -> Iterator[Hit]:
    """(a, b) = (1, 2) and lists of rows."""
    for node in statement.of(exp.Tuple):
        if not isinstance(node.parent, exp.Values):
            message = "A row of values cannot be compared or given out."
            yield node, Finding(message, "Compare each column.", at=statement.at(node))


def table_source(statement: Statement) -> Iterator[Hit]:
    """VALUES, table functions, LATERAL, samples and pivots are not rows of a stream."""
    kinds = (exp.Values, exp.Lateral, exp.Unnest, exp.TableSample, exp.Pivot, exp.TableFromRows)
    message = "Rows can come from nothing but a stream."
    yield from hits(statement, statement.of(*kinds), message, _TABLES_ONLY)
    for node in statement.of(exp.Table):
        if isinstance(node.this, exp.Func):
            message = "A table function makes rows that no event stands for."
            yield node, Finding(message, _TABLES_ONLY, at=statement.at(node))


def expression_subquery(statement: Statement) -> Iterator[Hit]:
    """EXISTS, ANY and ALL only make sense against the row around them."""
    nodes = statement.of(exp.Exists, exp.SubqueryPredicate)
    message = "EXISTS, ANY and ALL look from one row into others."
    yield from hits(statement, nodes, message, "Join a grouped subquery, or use IN (SELECT …).")


def join_kind(statement: Statement) -> Iterator[Hit]:
    """Joins say on what; they keep the rows of their left side."""
    for node in statement.of(exp.Join):
        finding = _join_finding(node)
        if finding is not None:
            message, hint = finding
            yield node, Finding(message, hint, at=statement.at(node))


def _join_finding(node: exp.Join) -> tuple[str, str] | None:
    args = node.args
    hint = "Write JOIN … ON a.column = b.column AND a.privacy_time_unit = b.privacy_time_unit."
    if args.get("method"):
        return f"{str(args['method']).upper()} JOIN matches columns that are not named.", hint
    if str(args.get("side") or "").upper() in {"RIGHT", "FULL"}:
        return f"{str(args['side']).upper()} JOIN is not on every device.", "Use LEFT JOIN."
    if str(args.get("kind") or "").upper() not in {"", "INNER", "OUTER"}:
        return f"{str(args['kind']).upper()} JOIN pairs every row with every other.", hint
    # The parser puts TRUE where ON is missing.
    if not args.get("using") and isinstance(args.get("on"), exp.Boolean | None):
        return "A join without ON pairs every row with every other.", hint
    return None


def literal(statement: Statement) -> Iterator[Hit]:
    """Literals are short text or numbers that SQLite holds exactly."""
    for node in statement.of(exp.Literal):
        problem = _text_problem(node.name) if node.is_string else _number_problem(node.name)
        if problem:
            yield node, Finding(problem, "Write a plain value.", at=statement.at(node))


def _text_problem(text: str) -> str | None:
    if len(text) > bounds.MAX_LITERAL:
        return f"A text has {len(text)} characters; at most {bounds.MAX_LITERAL} are possible."
    if not text.isprintable():
        return "A text holds characters that cannot be printed."
    return None


def _number_problem(text: str) -> str | None:
    try:
        large = not -(2**63) < float(text) < 2**63 if "_" not in text else True
    except ValueError:
        return f"{text[:40]!r} is not a number."
    return f"The number {text[:40]} is too large." if large else None


def distinct_aggregate(statement: Statement) -> Iterator[Hit]:
    """COUNT(DISTINCT x) is a plain count on a device; SUM(DISTINCT x) is never what is meant."""
    for node in statement.of(exp.Distinct):
        inside = node.parent
        if isinstance(inside, exp.Select) and not node.args.get("on"):
            continue
        if isinstance(inside, exp.Count) and len(node.expressions) == 1:
            continue
        message = "DISTINCT is possible in COUNT(DISTINCT column) only."
        yield node, Finding(message, "Remove DISTINCT.", at=statement.at(node))


def missing_brackets(statement: Statement) -> Iterator[Hit]:
    """The parser and SQLite bind IN, BETWEEN, IS and NOT differently where no bracket binds them.

    `a < 3 IN (1)` is `(a < 3) IN (1)` for SQLite and `a < (3 IN (1))` for the parser: what an
    analyst means cannot be told, and what a device would run is not what they have tried out.
    """
    message = "Without brackets this can be read in two ways."
    hint = "Put brackets around what belongs together."
    for node in statement.of(*_OPERATORS):
        operands = [o for k in _OPERANDS if isinstance(o := node.args.get(k), exp.Expr)]
        if any(isinstance(without_added_brackets(o), _BOUND_DIFFERENTLY) for o in operands):
            yield node, Finding(message, hint, at=statement.at(node))


RULES: Final[tuple[SyntaxRule, ...]] = (
    select_only,
    star,
    recursive,
    limit,
    window_function,
    set_operation,
    parameter,
    collation,
    row_value,
    table_source,
    expression_subquery,
    join_kind,
    literal,
    distinct_aggregate,
    missing_brackets,
)
