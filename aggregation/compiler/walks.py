"""Walks over bound queries: into expressions, and from a query to the blocks it needs."""

from __future__ import annotations

from collections.abc import Iterator

from aggregation.compiler.tree import (
    Aggregate,
    Arithmetic,
    Between,
    Block,
    Call,
    Cast,
    Choose,
    Compare,
    Expr,
    Logic,
    Negate,
    Not,
    OneOf,
    OneOfQuery,
    Select,
    Single,
    Union,
)


def children(expr: Expr) -> tuple[Expr, ...]:  # noqa: PLR0911 - one line per shape
    match expr:
        case Arithmetic(_, left, right) | Compare(_, left, right):
            return (left, right)
        case Negate(value) | Not(value) | Cast(value) | OneOfQuery(value):
            return (value,)
        case Logic(_, items) | Call(_, items):
            return items
        case Between(value, low, high):
            return (value, low, high)
        case OneOf(value, items):
            return (value, *items)
        case Choose(branches, default):
            pairs = tuple(e for pair in branches for e in pair)
            return pairs if default is None else (*pairs, default)
        case Aggregate(_, value, _, where):
            return tuple(e for e in (value, where) if e is not None)
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all it holds, outermost first; blocks inside are not entered."""
    stack = [expr]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(children(top)))


def expressions(select: Select) -> Iterator[Expr]:
    """Every expression of a SELECT, wherever it stands."""
    yield from (item.value for item in select.items)
    yield from (join.on for join in select.joins if join.on is not None)
    yield from (e for e in (select.where, select.having) if e is not None)
    yield from select.group or ()


def blocks(main: Block) -> list[Block]:
    """The block and all blocks it needs, each once, those needed first."""
    order: list[Block] = []
    done: set[int] = set()
    stack: list[tuple[Block, bool]] = [(main, False)]
    while stack:
        block, ready = stack.pop()
        if ready:
            order.append(block)
        elif id(block) not in done:
            done.add(id(block))
            stack.append((block, True))
            stack.extend((b, False) for b in reversed(_needed(block)))
    return order


def selects(main: Block) -> list[Select]:
    return [b for b in blocks(main) if isinstance(b, Select)]


def _needed(block: Block) -> list[Block]:
    if isinstance(block, Union):
        return list(block.branches)
    inner = [s.relation for s in block.sources if isinstance(s.relation, Select | Union)]
    nested = [e for top in expressions(block) for e in walk(top)]
    return inner + [e.block for e in nested if isinstance(e, OneOfQuery | Single)]


def aggregates(select: Select) -> bool:
    """Whether its rows are groups rather than rows of its sources."""
    values = [i.value for i in select.items] + ([select.having] if select.having else [])
    return select.group is not None or any(
        isinstance(e, Aggregate) for v in values for e in walk(v)
    )


def conjuncts(condition: Expr) -> tuple[Expr, ...]:
    """The conditions that all hold when this one does."""
    if isinstance(condition, Logic) and condition.word == "AND":
        return tuple(c for item in condition.items for c in conjuncts(item))
    return (condition,)
