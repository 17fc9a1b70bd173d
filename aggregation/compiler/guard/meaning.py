"""Rules on one bound SELECT, wherever in a query it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from aggregation.compiler import bounds
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.guard.names import output_name as plain_name
from aggregation.compiler.lineage import common_type, type_of
from aggregation.compiler.origins import FromWindow, Undecided
from aggregation.compiler.tree import (
    WINDOW,
    Aggregate,
    Arithmetic,
    Between,
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
    Opaque,
    Ref,
    Select,
    Single,
)
from aggregation.compiler.walks import aggregates, children, conjuncts, expressions, walk

MeaningRule = Callable[[Select], Iterator[Finding]]

_SAME: Final = "Compare text with text in single quotes, and numbers with numbers."


def needs_source(select: Select) -> Iterator[Finding]:
    if select.source is None and select.items:
        message = "A SELECT without FROM makes rows that no event stands for."
        yield Finding(message, "Read a declared stream.", at=select.at)


def too_deep(select: Select) -> Iterator[Finding]:
    """SQLite on a device refuses expressions deeper than its limit."""
    for expr in expressions(select):
        if _depth(expr) > bounds.MAX_EXPRESSION_DEPTH:
            message = "This expression is nested too deeply for a device."
            yield Finding(message, "Name steps with WITH, or use IN.", at=expr.at)


def mixed_types(select: Select) -> Iterator[Finding]:
    """SQLite would turn text into numbers and back without a word."""
    for top in expressions(select):
        for expr in walk(top):
            problem = _type_problem(expr)
            if problem:
                yield Finding(problem, _SAME, at=expr.at)
    for condition in _conditions(select):
        if type_of(condition) == "text":
            hint = "Compare it with a value, such as activity = 'bus'."
            yield Finding("A condition is text.", hint, at=condition.at)


def _conditions(select: Select) -> Iterator[Expr]:
    """What chooses rows or groups, and what FILTER and CASE choose by."""
    yield from (join.on for join in select.joins if join.on is not None)
    yield from (e for e in (select.where, select.having) if e is not None)
    for top in expressions(select):
        for expr in walk(top):
            match expr:
                case Aggregate(where=where) if where is not None:
                    yield where
                case Choose(branches):
                    yield from (condition for condition, _ in branches)


def _type_problem(expr: Expr) -> str | None:  # noqa: PLR0911 - one line per shape
    match expr:
        case Arithmetic() | Negate() | Logic() | Not() if _any_text(children(expr)):
            return "Text cannot be used as a number here."
        case Compare(_, left, right) if _differ((left, right)):
            return "This compares text with a number."
        case Between(value, low, high) if _differ((value, low, high)):
            return "This compares text with a number."
        case OneOf(value, items) if _differ((value, *items)):
            return "This compares text with a number."
        case OneOfQuery(value, block) if block.fields and {
            type_of(value),
            block.fields[0].type,
        } == {"text", "number"}:
            return "This compares text with a number."
        case Choose(branches, default):
            values = [v for _, v in branches] + ([default] if default else [])
            return "The branches give text and numbers." if _differ(values) else None
        case Call("abs" | "round", arguments) if _any_text(arguments):
            return "Text cannot be used as a number here."
        case Call(_, arguments) if _differ(arguments):
            return "The arguments are text and numbers."
        case Cast(value) if _any_text([value]):
            return "Text cannot be cast to a number."
        case Aggregate("sum" | "total" | "avg", value) if value and _any_text([value]):
            return "Text cannot be summed or averaged."
        case _:
            return None


def _any_text(values: tuple[Expr, ...] | list[Expr]) -> bool:
    return any(type_of(v) == "text" for v in values)


def _differ(values: tuple[Expr, ...] | list[Expr]) -> bool:
    types = {type_of(v) for v in values}
    return {"text", "number"} <= types and common_type(values) == "unknown"


def window_computed(select: Select) -> Iterator[Finding]:
    """The window's id is passed on as it is: nothing is computed from it, nothing poses as it."""
    for item in select.items:
        computed = not isinstance(item.value, Ref) and _mentions_window(item.value)
        posing = item.name == WINDOW and not _is_window(item.value)
        if computed or (posing and not _undecided(item.value)):
            message = f"{item.name} is not the window that the device stamped."
            if computed:
                message = "privacy_time_unit cannot be computed with."
            yield Finding(message, "Select privacy_time_unit as it is.", at=item.value.at)
    for term in select.group or ():
        selected = any(item.value == term for item in select.items)
        if not selected and not isinstance(term, Ref) and _mentions_window(term):
            message = "privacy_time_unit cannot be computed with."
            yield Finding(message, "Group by privacy_time_unit as it is.", at=term.at)


def retrospective_filter(select: Select) -> Iterator[Finding]:
    """A query runs on every window from its activation on, never on chosen ones."""
    filters = [f for f in (select.where, select.having) if f is not None]
    filters += [part for join in select.joins if join.on for part in conjuncts(join.on)]
    for condition in filters:
        if _mentions_window(condition) and not _joins_windows(condition):
            message = "A query cannot choose its windows."
            hint = "Remove the condition: the task runs on every window after its activation."
            named = next(e for e in walk(condition) if _is_window(e) or _gives_window(e))
            yield Finding(message, hint, at=named.at)


def _is_window(value: Expr) -> bool:
    return isinstance(value, Ref) and isinstance(value.field.origin, FromWindow)


def _undecided(value: Expr) -> bool:
    return isinstance(value, Opaque) or (
        isinstance(value, Ref) and isinstance(value.field.origin, Undecided)
    )


def _mentions_window(expr: Expr) -> bool:
    return any(_is_window(e) or _gives_window(e) for e in walk(expr))


def _gives_window(expr: Expr) -> bool:
    block = expr.block if isinstance(expr, Single | OneOfQuery) else None
    return block is not None and any(isinstance(f.origin, FromWindow) for f in block.fields)


def _joins_windows(condition: Expr) -> bool:
    return (
        isinstance(condition, Compare)
        and condition.sign == "="
        and all(_is_window(e) or _undecided(e) for e in (condition.left, condition.right))
    )


def aggregate_place(select: Select) -> Iterator[Finding]:
    """Aggregates stand in SELECT and HAVING, not in each other."""
    joined = [j.on for j in select.joins if j.on is not None]
    for top in [*joined, *([select.where] if select.where else []), *(select.group or ())]:
        for expr in walk(top):
            if isinstance(expr, Aggregate):
                message = f"{expr.name.upper()} cannot stand in WHERE, ON or GROUP BY."
                yield Finding(message, "Filter groups with HAVING.", at=expr.at)
    for top in expressions(select):
        for expr in walk(top):
            if isinstance(expr, Aggregate) and any(
                isinstance(e, Aggregate) for c in children(expr) for e in walk(c)
            ):
                message = f"{expr.name.upper()} holds another aggregate."
                yield Finding(message, "Compute the inner one in a subquery.", at=expr.at)


def bare_column(select: Select) -> Iterator[Finding]:
    """A column that is neither grouped nor aggregated would show one event's value."""
    group = select.group or ()
    if not aggregates(select) or any(isinstance(term, Opaque) for term in group):
        return
    tops = [item.value for item in select.items]
    for top in [*tops, *([select.having] if select.having else [])]:
        for ref in _ungrouped(top, group):
            message = f"{ref.field.name} is neither grouped nor aggregated."
            hint = f"Add {ref.field.name} to GROUP BY, or aggregate it."
            yield Finding(message, hint, at=ref.at)


def _ungrouped(expr: Expr, group: tuple[Expr, ...]) -> Iterator[Ref]:
    if expr in group or isinstance(expr, Aggregate):
        return
    if isinstance(expr, Ref):
        yield expr
    for child in children(expr):
        yield from _ungrouped(child, group)


def having_without_group(select: Select) -> Iterator[Finding]:
    if select.having is not None and select.group is None:
        message = "HAVING needs GROUP BY."
        yield Finding(message, "Use WHERE, or add GROUP BY.", at=select.having.at)


def single_value(select: Select) -> Iterator[Finding]:
    """A subquery in an expression stands for one value, or for one column of values."""
    for top in expressions(select):
        for expr in walk(top):
            if isinstance(expr, OneOfQuery) and len(expr.block.fields) != 1:
                message = "The subquery after IN gives several columns."
                yield Finding(message, "Select one column.", at=expr.at)
            if isinstance(expr, Single) and not _gives_one(expr):
                message = "This subquery may give several rows or columns."
                hint = "Select one aggregate without GROUP BY, or join the subquery."
                yield Finding(message, hint, at=expr.at)


def _gives_one(expr: Single) -> bool:
    block = expr.block
    one_row = isinstance(block, Select) and aggregates(block) and block.group is None
    return one_row and len(block.fields) == 1


def output_name(select: Select) -> Iterator[Finding]:
    for item in select.items:
        finding = plain_name(item.name, item.at, named=True)
        if finding is not None:
            yield finding


def column_names(select: Select) -> Iterator[Finding]:
    """What reads a step goes by the names of its columns, even where a list renames them."""
    seen: set[str] = set()
    for item in select.items:
        if item.name in seen:
            message = f"Two columns are called {item.name[:60]}."
            yield Finding(message, "Give each its own name.", at=item.at)
        seen.add(item.name)


def _depth(expr: Expr) -> int:
    deepest, stack = 0, [(expr, 1)]
    while stack:
        top, depth = stack.pop()
        deepest = max(deepest, depth)
        stack.extend((child, depth + 1) for child in children(top))
    return deepest


RULES: Final[tuple[MeaningRule, ...]] = (
    needs_source,
    too_deep,
    mixed_types,
    window_computed,
    retrospective_filter,
    aggregate_place,
    bare_column,
    having_without_group,
    single_value,
    output_name,
    column_names,
)
