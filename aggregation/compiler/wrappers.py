"""What stands around sums in a server query: constants, rounding, and words for nothing."""

from __future__ import annotations

from math import isfinite

from aggregation.compiler.tree import Aggregate, Arithmetic, Call, Cast, Expr, Negate, Null, Number
from aggregation.compiler.walks import children


def constant(value: Expr) -> float | None:  # noqa: PLR0911 - one line per shape
    """The number that a factor comes to; `/` is real division, as it is between sums."""
    match value:
        case Number(text):
            return float(text)
        case Negate(inner):
            known = constant(inner)
            return None if known is None else -known
        case Arithmetic("*", left, right):
            one, other = constant(left), constant(right)
            return None if one is None or other is None else one * other
        case Arithmetic("/", left, right):
            one, other = constant(left), constant(right)
            return None if one is None or not other else one / other
        case Cast(inner, to):
            known = constant(inner)
            if known is None or to == "REAL" or not isfinite(known):
                return known
            return float(int(known))
        case _:
            return None


def is_nothing(value: Expr | None) -> bool:
    return value is None or isinstance(value, Null) or constant(value) == 0


def unwrapped(value: Expr) -> Expr:
    """Without what does not change a noised number: CAST, ROUND, NULLIF and COALESCE with 0."""
    while True:
        match value:
            case Cast(inner) | Call("round", (inner, *_)):
                value = inner
            case Call("nullif" | "coalesce", (inner, other)) if constant(other) == 0:
                value = inner
            case _:
                return value


def rounding(value: Expr) -> str:
    """What rounds a sum, wherever it stands; what a device rounds, inside of a sum, stays so."""
    match value:
        case Aggregate():
            return ""
        case Cast(_, "INTEGER") if constant(value) is None:
            return "CAST"
        case Call("round"):
            return "ROUND"
        case _:
            return next((word for e in children(value) if (word := rounding(e))), "")
