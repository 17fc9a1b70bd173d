"""Derive what the server publishes from sums: the only thing that devices' data ever becomes.

SUM and COUNT of the server query are summed coordinates. AVG and ratios are post-processing of
noised sums, so each needs its numerator and denominator as coordinates; one that is not
published itself is hidden, is bounded and noised like all others, and needs its own scale.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import isfinite

from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.tree import (
    Aggregate,
    Arithmetic,
    Call,
    Choose,
    Compare,
    Expr,
    Item,
    Negate,
    Null,
    Number,
    Ref,
    Text,
)
from aggregation.compiler.walks import walk
from aggregation.compiler.wrappers import constant, is_nothing, rounding, unwrapped
from aggregation.protocol.server_config import Derived

_HINT = "Use SUM, COUNT, AVG, or one of them divided by another; compute the rest in client_sql."
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "<>": "<>"}
_NO_GUARD = "CASE across devices can only keep a ratio from being divided by 0."


@dataclass(frozen=True)
class Coordinate:
    """One summed number per cell: what a device adds up, and under which name it is known."""

    name: str
    value: Aggregate
    hidden: bool
    # The published column it is needed for, in the analyst's words.
    needed_for: str = ""


@dataclass(frozen=True)
class _Scaled:
    """An aggregate times a constant."""

    aggregate: Aggregate
    factor: float = 1.0


@dataclass(frozen=True)
class _Ratio:
    numerator: Aggregate
    denominator: Aggregate
    factor: float = 1.0


@dataclass
class Derivation:
    """Coordinates in an update's order, derived columns, and what was not possible."""

    coordinates: list[Coordinate] = field(default_factory=list)
    derived: list[Derived] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    # Columns whose rounding is left out, and its word: values carry noise, and are rounded when
    # shown.
    rounded: list[tuple[Item, str]] = field(default_factory=list)


def derive(items: Iterable[Item], taken: Iterable[str]) -> Derivation:
    """Turn the aggregated columns of a server query into coordinates and derived columns."""
    result, ratios = Derivation(), []
    for item in items:
        if word := rounding(item.value):
            result.rounded.append((item, word))
        meaning = _meaning(item.value)
        if isinstance(meaning, _Scaled):
            result.coordinates.append(Coordinate(item.name, _pushed(meaning), hidden=False))
        elif isinstance(meaning, _Ratio):
            ratios.append((item, meaning))
        else:
            result.findings.append(Finding(meaning, _HINT, at=item.at))
    names = {*taken, *(c.name for c in result.coordinates), *(i.name for i, _ in ratios)}
    for item, ratio in ratios:
        result.derived.append(
            Derived(
                name=item.name,
                numerator=_coordinate(result, ratio.numerator, item, "numerator", names),
                denominator=_coordinate(result, ratio.denominator, item, "denominator", names),
                factor=ratio.factor,
            )
        )
    return result


def _coordinate(
    result: Derivation, value: Aggregate, item: Item, role: str, names: set[str]
) -> str:
    """The name of the coordinate with this value; a hidden one is added where there is none."""
    for known in result.coordinates:
        if known.value == value:
            return known.name
    base = name = _hidden_name(value, item, role)
    number = 2
    while name in names:
        name, number = f"{base}_{number}", number + 1
    names.add(name)
    result.coordinates.append(Coordinate(name, value, hidden=True, needed_for=item.name))
    return name


def _hidden_name(value: Aggregate, item: Item, role: str) -> str:
    if value.value is None:
        return "row_count"
    if isinstance(value.value, Ref):
        return f"{value.value.field.name}_{value.name}"
    return f"{item.name}_{role}"


def _meaning(value: Expr) -> _Scaled | _Ratio | str:  # noqa: PLR0911 - one line per shape
    """A scaled aggregate, a ratio, or why it is neither."""
    value = unwrapped(value)
    match value:
        case Aggregate():
            return _aggregate_meaning(value)
        case Negate(inner):
            return _times(_meaning(inner), -1.0)
        case Arithmetic("*", left, right):
            left_factor, right_factor = constant(left), constant(right)
            if left_factor is not None:
                return _times(_meaning(right), left_factor)
            if right_factor is not None:
                return _times(_meaning(left), right_factor)
            return _no_product(left, right)
        case Arithmetic("/", left, right):
            divisor = constant(right)
            if divisor is not None:
                return _times(_meaning(left), 1 / divisor if divisor else 0.0)
            return _ratio(_meaning(left), _meaning(right))
        case Arithmetic("+" | "-" as sign, left, right):
            return _added(sign, _meaning(left), _meaning(right))
        case Choose(((condition, inner),), default) if is_nothing(default):
            return _guarded(condition, ("<>", ">"), _meaning(inner))
        case Choose(((condition, nothing),), inner) if inner and is_nothing(nothing):
            return _guarded(condition, ("=", "<="), _meaning(inner))
        case Choose():
            return _NO_GUARD
        case _:
            return "This is no sum, count, average or ratio."


def _no_product(left: Expr, right: Expr) -> str:
    if all(any(isinstance(e, Aggregate) for e in walk(side)) for side in (left, right)):
        return "Two sums cannot be multiplied."
    return "A sum can only be multiplied by a plain number."


def _aggregate_meaning(value: Aggregate) -> _Scaled | _Ratio | str:
    if value.distinct:
        return f"{value.name.upper()}(DISTINCT …) across devices is not a sum."
    if value.name in ("min", "max"):
        return f"{value.name.upper()} across devices is not a sum."
    if value.name == "avg":
        return _Ratio(Aggregate("sum", value.value), Aggregate("count", value.value))
    name = "sum" if value.name == "total" else value.name
    counted = value.value
    if name == "count" and isinstance(counted, Number | Text):
        counted = None
    return _Scaled(Aggregate(name, counted))


def _times(meaning: _Scaled | _Ratio | str, factor: float) -> _Scaled | _Ratio | str:
    if isinstance(meaning, str):
        return meaning
    return _in_range(replace(meaning, factor=meaning.factor * factor))


def _in_range(meaning: _Scaled | _Ratio) -> _Scaled | _Ratio | str:
    """A factor of many small steps is judged by what they come to."""
    if isfinite(meaning.factor) and 1e-12 <= abs(meaning.factor) <= 1e12:
        return meaning
    return "This factor is zero, or out of range."


def _added(sign: str, left: _Scaled | _Ratio | str, right: _Scaled | _Ratio | str) -> _Scaled | str:
    """Sums that are added are one sum: SUM(a) + SUM(b) is SUM(a + b), with nothing as 0."""
    for side in (left, right):
        if isinstance(side, str):
            return side
    if not isinstance(left, _Scaled) or not isinstance(right, _Scaled):
        return "Averages and ratios cannot be added or subtracted."
    return _Scaled(Aggregate("sum", Arithmetic(sign, _row_value(left), _row_value(right))))


def _row_value(meaning: _Scaled) -> Expr:
    """What one row adds to a sum; 0 where it has nothing to add."""
    value = _pushed(meaning)
    if value.name == "count":
        if value.value is None:
            return Number("1")
        return Choose(((Compare("IS NOT", value.value, Null()), Number("1")),), Number("0"))
    if value.value is None:
        return Number("0")
    return Call("coalesce", (value.value, Number("0")))


def _ratio(above: _Scaled | _Ratio | str, below: _Scaled | _Ratio | str) -> _Scaled | _Ratio | str:
    for side in (above, below):
        if isinstance(side, str):
            return side
    if not isinstance(above, _Scaled) or not isinstance(below, _Scaled):
        return "A ratio of ratios cannot be derived."
    return _in_range(_Ratio(above.aggregate, below.aggregate, above.factor / below.factor))


def _pushed(meaning: _Scaled) -> Aggregate:
    """A constant factor is applied on the device: SUM(x) × 2 is SUM(x × 2)."""
    value = meaning.aggregate
    if meaning.factor == 1:
        return value
    factor = Number(repr(float(abs(meaning.factor))))
    signed: Expr = factor if meaning.factor > 0 else Negate(factor)
    if value.name == "sum" and value.value is not None:
        return Aggregate("sum", Arithmetic("*", value.value, signed))
    if value.value is None:
        return Aggregate("sum", signed)
    present = Compare("IS NOT", value.value, Null())
    return Aggregate("sum", Choose(((present, signed),), Number("0")))


def _guarded(
    condition: Expr, signs: tuple[str, str], meaning: _Scaled | _Ratio | str
) -> _Scaled | _Ratio | str:
    """CASE WHEN SUM(n) > 0 THEN SUM(km) / SUM(n) END: a guard against dividing by zero.

    It changes no number, for it tests the very sum that is divided by. One that tests any other
    would choose among cells by what devices have sent.
    """
    if isinstance(meaning, str):
        return meaning
    unequal, beyond = signs
    match _zero_last(condition):
        case Compare(sign, tested, zero) if sign in signs and constant(zero) == 0:
            known = _meaning(tested)
        case _:
            return _NO_GUARD
    if not isinstance(known, _Scaled) or (sign == beyond and known.factor < 0):
        return _NO_GUARD
    if isinstance(meaning, _Ratio):
        return meaning if known.aggregate == meaning.denominator else _NO_GUARD
    return meaning if known.aggregate == meaning.aggregate and sign == unequal else _NO_GUARD


def _zero_last(condition: Expr) -> Expr:
    """0 < SUM(n) as SUM(n) > 0."""
    match condition:
        case Compare(sign, zero, tested, at) if sign in _MIRRORED and constant(zero) == 0:
            return Compare(_MIRRORED[sign], tested, zero, at)
        case _:
            return condition
