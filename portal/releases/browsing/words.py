"""Released numbers in sentences: as many digits as the interval bears, never more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from portal.charts.rounding import ends, places_of, scale_for, signed, written
from portal.releases.browsing.change import Change
from portal.releases.reading import Number

# How one moves: done by whoever, and as a noun before `trips`.
_DID: Final = {
    "walking": "walked",
    "running": "ran",
    "cycling": "cycled",
    "motorcycling": "rode motorcycles for",
    "driving": "drove",
    "bus": "rode buses for",
    "train": "took trains for",
    "subway": "took the subway for",
    "flying": "flew",
}


def amount(number: Number, unit: str = "") -> str:
    """`12.41 ± 0.31 million km`."""
    if number.value is None:
        return "not shown"
    return _with_width(number.value, number.half_width or 0.0, unit, written)


def difference(change: Change, unit: str = "") -> str:
    """`+410 ± 120 km`."""
    return _with_width(change.difference, change.half_width, unit, signed)


def distance(change: Change, unit: str = "") -> str:
    """`410 ± 120`: how far two numbers are apart, whichever is larger."""
    return _with_width(abs(change.difference), change.half_width, unit, written)


def compared(change: Change | None, than: str, unit: str = "") -> str:
    """`3.0 ± 1.1 % less than the week before (−410 ± 150 km); the change is larger than the
    noise`."""
    if change is None:
        return f"but no number is shown for {than}, so there is no comparison"
    told = difference(change, unit)
    if not change.is_clear:
        return f"no clear difference from {than} ({told}): any difference could be noise alone"
    return f"{_how_much(change)} {than} ({told}); the change is larger than the noise"


def how_sure(number: Number, what: str) -> str:
    """In plain words, for those who do not read ±."""
    if number.value is None:
        return "It is not shown, because its noise would drown it."
    half_width = number.half_width or 0.0
    scale, _, name = scale_for(number.value, half_width)
    between = " and ".join(ends(number.value / scale, half_width / scale))
    told = " ".join(filter(None, [between, name]))
    but = ", but for what clipping took away" if number.clip_uncertainty is None else ""
    return f"95 times in 100 the true {what} lies between {told}{but}."


def did(activity: str) -> str:
    """`drove`, for a sentence about kilometres."""
    return _DID.get(activity, f"did {activity} for")


def _with_width(
    value: float, half_width: float, unit: str, write: Callable[[float, int], str]
) -> str:
    scale, _, name = scale_for(value, half_width)
    places = places_of(half_width / scale)
    told = f"{write(value / scale, places)} ± {written(half_width / scale, places)}"
    return " ".join(filter(None, [told, name, unit]))


def _how_much(change: Change) -> str:
    word = "more" if change.difference > 0 else "less"
    width = change.percent_half_width
    if change.percent is None or width is None or width >= abs(change.percent):
        return f"{word} than"
    if change.percent >= 99.5:
        times = _with_width(1 + change.percent / 100, width / 100, "", written)
        return f"{times} times as much as"
    return f"{_with_width(abs(change.percent), width, '%', written)} {word} than"
