"""Which values may be empty: a row with an empty key is dropped on the device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from aggregation.compiler.tree import (
    Between,
    Call,
    Choose,
    Compare,
    Expr,
    Join,
    Not,
    Null,
    OneOf,
    OneOfQuery,
    Ref,
)
from aggregation.compiler.walks import conjuncts


def may_be_empty(value: Expr, present: Set[Expr]) -> bool:
    """Whether it may be NULL where those present are not. Asked of what can be a key alone."""
    match value:
        case Ref(_, field):
            return field.may_be_empty and value not in present
        case Choose(branches, default):
            given = [v for _, v in branches]
            return default is None or any(may_be_empty(v, present) for v in (*given, default))
        case Call("coalesce", arguments):
            return all(may_be_empty(a, present) for a in arguments)
        case Call("nullif") | Null():
            return True
        case _:
            return False


def present_in(conditions: Iterable[Expr | None], joins: Iterable[Join]) -> frozenset[Expr]:
    """The columns that are never NULL in rows for which all these conditions hold."""
    inner = [join.on for join in joins if not join.left]
    given = [c for c in (*conditions, *inner) if c is not None]
    return frozenset(ref for c in given for part in conjuncts(c) for ref in _compared(part))


def _compared(condition: Expr) -> Iterator[Expr]:
    """The columns that have a value where this holds: no comparison holds for NULL."""
    match condition:
        case Compare("IS NOT", value, Null()) | Not(Compare("IS", value, Null())):
            yield value
        case Compare("IS" | "IS NOT"):
            return
        case Compare(_, left, right):
            yield from (left, right)
        case Between(value) | OneOf(value) | OneOfQuery(value):
            yield value
        case Not(Between(value) | OneOf(value) | OneOfQuery(value)):
            yield value
