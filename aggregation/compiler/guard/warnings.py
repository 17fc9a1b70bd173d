"""Warnings: what a reviewer should look at, though nothing forbids it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Final

from sqlglot import exp

from aggregation.compiler import bounds
from aggregation.compiler.contract import outputs_of
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.guard.plan import Plan
from aggregation.compiler.origins import Computed, FromChoice, FromColumn
from aggregation.compiler.parse import Statement
from aggregation.compiler.tree import (
    Aggregate,
    Choose,
    Compare,
    Expr,
    Field,
    Number,
    OneOf,
    Ref,
    Select,
    Text,
)
from aggregation.compiler.walks import conjuncts, expressions, walk
from aggregation.protocol.domains import Value
from aggregation.protocol.ranks import DomainOf
from aggregation.protocol.streams import Column

_KEEP: Final = "Give them a value of their own with COALESCE, or leave them out with WHERE."
# As lineage says it.
_AVERAGE: Final = Computed("the result of AVG")


@dataclass(frozen=True)
class Reviewed:
    """An accepted pair of queries, as a reviewer looks at them."""

    plan: Plan
    selects: tuple[Select, ...]
    # Columns of the client query that the server query does not use, with their places.
    unused: tuple[tuple[Field, int], ...]
    domain_of: DomainOf
    streams_read: frozenset[str]
    # Place of the server's SELECT.
    at: int = 0


WarningRule = Callable[[Reviewed], Iterator[Finding]]


def order_ignored(statement: Statement) -> Iterator[Finding]:
    """A set has no order; releases are shown in the order of their domains."""
    for node in statement.of(exp.Order):
        message = "ORDER BY has no effect and is left out."
        yield _warning(message, "Remove it.", statement.at(node))


def rare_filter(reviewed: Reviewed) -> Iterator[Finding]:
    """A filter on few values aims at few devices. Noise protects them; a reviewer should know."""
    hint = "Few devices may match; their noise is the same as anyone's."
    for condition in (c for select in reviewed.selects for c in _filters(select)):
        parts = conjuncts(condition)
        share = prod(_share(part, reviewed.domain_of) for part in parts)
        if share <= bounds.RARE_SHARE:
            message = f"This keeps about 1 in {1 / share:,.0f} combinations of values."
            yield _warning(message, hint, condition.at)
        for part in parts:
            message = _beyond_typical(part)
            if message:
                yield _warning(message, hint, part.at)


def _filters(select: Select) -> Iterator[Expr]:
    """WHERE, and FILTER of aggregates."""
    if select.where is not None:
        yield select.where
    for top in expressions(select):
        for expr in walk(top):
            if isinstance(expr, Aggregate) and expr.where is not None:
                yield expr.where


def _share(condition: Expr, domain_of: DomainOf) -> float:
    """Of the values of a column with a domain, the share that a condition keeps; else 1."""
    match condition:
        case Compare("=", Ref() as ref, Text() | Number()):
            wanted = 1
        case Compare("=", Text() | Number(), Ref() as ref):
            wanted = 1
        case OneOf(Ref() as ref, items):
            wanted = len(items)
        case _:
            return 1.0
    column = _column(ref)
    if column is None or column.domain is None:
        return 1.0
    return min(1.0, wanted / len(domain_of(column.domain)))


def _beyond_typical(condition: Expr) -> str:
    match condition:
        case Compare(">" | ">=", Ref() as ref, Number(text)):
            column = _column(ref)
        case _:
            return ""
    if column is None or column.typical is None or float(text) <= column.typical[1]:
        return ""
    return f"Most events have a {ref.field.name} of at most {column.typical[1]:g} {column.unit}."


def never_occurs(reviewed: Reviewed) -> Iterator[Finding]:
    """A value outside a column's domain is most often a slip of the pen."""
    for select in reviewed.selects:
        for top in expressions(select):
            for expr in walk(top):
                for literal, ref in _compared(expr):
                    if not _known(literal, ref, reviewed.domain_of):
                        shown = literal.value if isinstance(literal, Text) else literal.text
                        message = f"{shown[:60]!r} is not in the domain of {ref.field.name}."
                        yield _warning(message, "No event can match; check it.", literal.at)


def _compared(expr: Expr) -> Iterator[tuple[Text | Number, Ref]]:
    match expr:
        case Compare("=" | "<>" | "IS" | "IS NOT", Ref() as ref, Text() | Number() as literal):
            yield literal, ref
        case Compare("=" | "<>" | "IS" | "IS NOT", Text() | Number() as literal, Ref() as ref):
            yield literal, ref
        case OneOf(Ref() as ref, items):
            yield from ((i, ref) for i in items if isinstance(i, Text | Number))
        case _:
            return


def _known(literal: Text | Number, ref: Ref, domain_of: DomainOf) -> bool:
    value: Value | None = literal.value if isinstance(literal, Text) else _whole(literal.text)
    origin = ref.field.origin
    if isinstance(origin, FromChoice):
        return value in origin.values
    column = _column(ref)
    if column is None or column.domain is None:
        return True
    return value in domain_of(column.domain)


def _whole(text: str) -> int | None:
    return int(float(text)) if float(text).is_integer() else None


def _column(ref: Ref) -> Column | None:
    return ref.field.origin.column if isinstance(ref.field.origin, FromColumn) else None


def tiny_groups(reviewed: Reviewed) -> Iterator[Finding]:
    """More cells than any population can fill mean noise almost everywhere."""
    needed = reviewed.plan.cells * bounds.DEVICES_PER_CELL
    if needed > bounds.LARGEST_POPULATION:
        message = f"{reviewed.plan.cells:,} cells need about {needed / 1e6:,.0f} million devices."
        hint = "Most cells will be suppressed: group by fewer or smaller columns."
        yield _warning(message, hint, reviewed.at)


def unused_column(reviewed: Reviewed) -> Iterator[Finding]:
    for field, at in reviewed.unused:
        message = f"The server query does not use {field.name}; it stays on the device."
        yield _warning(message, "Remove it from the client query.", at)


def unused_stream(reviewed: Reviewed) -> Iterator[Finding]:
    for place, stream in enumerate(reviewed.plan.spec.streams):
        if stream not in reviewed.streams_read:
            message = f"No query reads {stream}, but the task is charged for it."
            found = _warning(message, "Remove it from `streams`.", 0)
            yield Finding(found.message, found.hint, 0, "warning", f"streams.{place}")


def key_may_be_empty(reviewed: Reviewed) -> Iterator[Finding]:
    """A CASE without ELSE, a column that events need not have, a row without a partner."""
    main, unused = reviewed.selects[-1], [field for field, _ in reviewed.unused]
    for key in (k for k in outputs_of(main).keys if k.may_be_empty and k not in unused):
        item = main.items[main.fields.index(key)]
        message, hint = f"{key.name} may be empty; such rows are dropped.", _KEEP
        if isinstance(item.value, Choose) and item.value.default is None:
            message = f"{key.name} is empty where no branch applies; such rows are dropped."
            hint = "Add ELSE 'other' to keep them."
        yield _warning(message, hint, item.at)


def rounding_ignored(reviewed: Reviewed) -> Iterator[Finding]:
    for item, word in reviewed.plan.derivation.rounded:
        message = f"{item.name} is published with its noise, unrounded."
        yield _warning(message, f"Leave {word} out: pages round when they show it.", item.at)


def sum_of_averages(reviewed: Reviewed) -> Iterator[Finding]:
    """A device with one event adds as much to it as one with a hundred. Their mean has a meaning,
    and is asked for with AVG."""
    for one in reviewed.plan.derivation.coordinates:
        match one.value:
            case Aggregate("sum", Ref(_, Field(name, _, origin), at)) if origin == _AVERAGE:
                if not one.hidden:
                    message = f"{name} is an average of each device, and averages do not add up."
                    hint = f"Write AVG({name}), or sum and count on the device and divide here."
                    yield _warning(message, hint, at)


def _warning(message: str, hint: str, at: int) -> Finding:
    return Finding(message, hint, at=at, severity="warning")


CLIENT_RULES: Final[tuple[WarningRule, ...]] = (
    rare_filter,
    never_occurs,
    unused_column,
    key_may_be_empty,
)
SERVER_RULES: Final[tuple[WarningRule, ...]] = (
    tiny_groups,
    unused_stream,
    rounding_ignored,
    sum_of_averages,
)
