"""Rules on the eligibility query: one answer from `device_facts`, and no way to aim at a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import ceil, floor
from typing import Final

from aggregation.compiler import bounds
from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.lineage import type_of
from aggregation.compiler.tree import (
    Between,
    Block,
    Call,
    Compare,
    Expr,
    Facts,
    Logic,
    Null,
    Number,
    OneOf,
    OneOfQuery,
    Ref,
    Select,
    Single,
)
from aggregation.compiler.walks import aggregates, children, expressions, walk

EligibilityRule = Callable[[Block], Iterator[Finding]]

_HINT: Final = "Write SELECT <condition> FROM device_facts."
_COUNTS: Final = ("windows_waiting", "windows_since_contribution")
_ORDER: Final = ("<", "<=", ">", ">=")


def eligibility_shape(main: Block) -> Iterator[Finding]:
    """One SELECT of one condition from the one row of facts."""
    if not isinstance(main, Select) or main.joins or _grouped(main):
        yield Finding("Eligibility is one plain SELECT.", _HINT, at=main.at)
        return
    if len(main.items) != 1:
        yield Finding("Eligibility gives out one condition.", _HINT, at=main.at)
    if aggregates(main):
        yield Finding("Eligibility aggregates nothing: there is one row.", _HINT, at=main.at)
    source = main.source
    if source is not None and source.known and not isinstance(source.relation, Facts):
        yield Finding("Eligibility reads device_facts directly.", _HINT, at=source.at)
    for expr in _all(main):
        if isinstance(expr, Single | OneOfQuery):
            yield Finding("Eligibility has no subqueries.", _HINT, at=expr.at)


def _grouped(select: Select) -> bool:
    return bool(select.group or select.having or select.distinct)


def eligibility_condition(main: Block) -> Iterator[Finding]:
    for item in main.items if isinstance(main, Select) else ():
        if type_of(item.value) in ("text", "null"):
            message = "Eligibility gives out a condition, true or false."
            yield Finding(message, _HINT, at=item.at)


def aimed_at_devices(main: Block) -> Iterator[Finding]:
    """The age of an install, told to the day, names a few devices.

    So it is only compared with numbers, by order: the answer then changes with age at those
    numbers and nowhere else, and whatever the query makes of it, no two of them may lie close.
    The day of the install is the first of them.
    """
    said: set[int] = set()
    limits: dict[int, int] = {}
    for expr in _all(main):
        ages = [e for e in walk(expr) if _is_age(e) and id(e) not in said]
        found = _age_limits(expr)
        if ages and _pins_age(expr):
            message = "Equality with install_age_days picks the devices of one day."
            yield Finding(message, "Use < or >=, such as install_age_days >= 30.", at=expr.at)
        elif ages and not found:
            if _is_age(expr):
                message = "install_age_days can only be compared with a number, by order."
                yield Finding(message, "Write it as install_age_days >= 30.", at=expr.at)
            continue
        said.update(id(e) for e in ages)
        limits |= dict.fromkeys(found, expr.at)
    yield from _close_limits(limits)


def _close_limits(limits: dict[int, int]) -> Iterator[Finding]:
    places = {0: 0, **limits}
    for one, other in pairwise(sorted(places)):
        if other - one < bounds.MIN_AGE_SPAN_DAYS:
            message = f"Between these bounds on install_age_days lie {other - one} days of installs"
            hint = f"Leave {bounds.MIN_AGE_SPAN_DAYS} days or more between them."
            if one == 0:
                message = f"This tells the installs of the last {_days(other)} from all others"
                hint = f"Compare with {bounds.MIN_AGE_SPAN_DAYS} days or more."
            yield Finding(f"{message}: few devices.", hint, at=max(places[one], places[other]))


def _days(count: int) -> str:
    return "day" if count == 1 else f"{count} days"


def _age_limits(expr: Expr) -> tuple[int, ...]:
    """The ages, in days, from which on the comparison has another answer."""
    match expr:
        case Compare(sign, left, Number(text)) if _is_age(left) and sign in _ORDER:
            return (_first_day(float(text), beyond=sign in ("<=", ">")),)
        case Compare(sign, Number(text), right) if _is_age(right) and sign in _ORDER:
            return (_first_day(float(text), beyond=sign in ("<", ">=")),)
        case Between(value, Number(low), Number(high)) if _is_age(value):
            return _first_day(float(low), beyond=False), _first_day(float(high), beyond=True)
        case _:
            return ()


def _first_day(number: float, *, beyond: bool) -> int:
    """The first whole day that is at least the number, or beyond it."""
    return floor(number) + 1 if beyond else ceil(number)


def _pins_age(expr: Expr) -> bool:
    match expr:
        case Compare("IS", left, Null()):
            return not _is_age(left) and _about_age(left)
        case Compare("=" | "IS", left, right):
            return any(_about_age(e) for e in (left, right))
        case OneOf(value, _):
            return _about_age(value)
        case _:
            return False


def _about_age(expr: Expr) -> bool:
    return any(_is_age(e) for e in walk(expr))


def _is_age(expr: Expr) -> bool:
    return isinstance(expr, Ref) and expr.field.name == "install_age_days"


def exact_windows(main: Block) -> Iterator[Finding]:
    """How many windows wait, told exactly, names a few devices; that there are enough does not.

    So such a number has a lower bound or none, and nothing but AND and OR stands around it: NOT,
    CASE and arithmetic make an upper bound of a lower one, and of two a single number.
    """
    for top in _conditions(main):
        for fact in _loose(top, joined=True):
            name = fact.field.name
            message = f"{name} can only have a lower bound, in conditions joined by AND and OR."
            yield Finding(message, f"Write it as {name} >= 2.", at=fact.at)


def _conditions(main: Block) -> Iterator[Expr]:
    if isinstance(main, Select):
        yield from (item.value for item in main.items)
        yield from (e for e in (main.where, main.having) if e is not None)
        yield from main.group or ()


def _loose(expr: Expr, *, joined: bool) -> Iterator[Ref]:
    """Numbers of windows that are neither bounded below nor asked whether they are there."""
    match expr:
        case Ref() if _is_count(expr):
            yield expr
        case Compare("IS" | "IS NOT", value, Null()) if _is_count(value):
            return
        case Compare() if joined and _bounded_below(expr):
            return
        case _:
            for child in children(expr):
                yield from _loose(child, joined=joined and isinstance(expr, Logic))


def _bounded_below(expr: Compare) -> bool:
    match expr:
        case Compare(">=" | ">", value, Number()) | Compare("<=" | "<", Number(), value):
            return _is_count(value) or _is_count_or_number(value)
        case _:
            return False


def _is_count_or_number(expr: Expr) -> bool:
    """COALESCE(windows_since_contribution, 99): a number where there is none."""
    match expr:
        case Call("coalesce", (value, Number())):
            return _is_count(value)
        case _:
            return False


def _is_count(expr: Expr) -> bool:
    return isinstance(expr, Ref) and expr.field.name in _COUNTS


def _all(main: Block) -> Iterator[Expr]:
    for top in expressions(main) if isinstance(main, Select) else ():
        yield from walk(top)


RULES: Final[tuple[EligibilityRule, ...]] = (
    eligibility_shape,
    eligibility_condition,
    aimed_at_devices,
    exact_windows,
)
