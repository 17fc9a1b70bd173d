"""What a study is given, judged value by value: what does not fit is a sentence."""

from collections.abc import Iterable
from typing import Any, Final

from aggregation.errors import Problem

# Every seed is below this.
SEEDS: Final = 2**31


def refuse_unknown(given: dict[str, Any], known: Iterable[str], what: str) -> None:
    names = tuple(known)
    if unknown := sorted(set(given) - set(names)):
        raise Problem(f"{what} knows no {short(unknown[0])}.", hint=f"It knows {', '.join(names)}.")


def whole(value: object, what: str, *, least: int, most: int, hint: str = "") -> int:
    """A whole number between these two, both included."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        told = f"{what} is a whole number from {least:,} to {most:,}, not {short(value)}."
        raise Problem(told, hint=hint)
    return value


def seed(value: object) -> int:
    return whole(value, "A seed", least=0, most=SEEDS - 1)


def epsilon(value: object, *, least: float, largest: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Problem(f"ε is a number, not {short(value)}.")
    if not least <= value <= largest:
        raise Problem(f"ε goes from {least:g} to {largest:g} here, not {short(value)}.")
    return float(value)


def several(value: object, what: str, *, most: int) -> list[Any]:
    """One or some values, without repetitions, in the order given."""
    values = value if isinstance(value, list | tuple) else [value]
    if not 1 <= len(values) <= most:
        raise Problem(f"{what}: 1 to {most} of them, not {len(values):,}.")
    return [one for at, one in enumerate(values) if one not in values[:at]]


def one_of(value: object, names: Iterable[str], what: str) -> str:
    known = tuple(names)
    if not isinstance(value, str) or value not in known:
        raise Problem(f"There is no {what} {short(value)}.", hint=f"There are {', '.join(known)}.")
    return value


def short(value: object) -> str:
    return repr(value)[:40]
