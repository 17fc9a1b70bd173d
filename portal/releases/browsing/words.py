"""Released numbers in sentences: as many digits as the interval bears, never more."""

from __future__ import annotations

import math
from typing import Final

from portal.releases.browsing.change import Change
from portal.releases.reading import Number

_SCALES: Final = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
# Digits of a half-width that say something.
_DIGITS: Final = 2
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
    """`12.4 ± 0.3 million km`."""
    if number.value is None:
        return "not shown"
    scale, name = _scale(number.value)
    half_width = (number.half_width or 0.0) / scale
    places = _places(half_width)
    value, width = _written(number.value / scale, places), _written(half_width, places)
    return " ".join(filter(None, [f"{value} ± {width}", name, unit]))


def compared(change: Change | None, than: str) -> str:
    """`3 % less than the week before; the change is larger than the noise`."""
    if change is None:
        return f"but {than} is not shown for it, so there is no comparison"
    if not change.is_clear:
        return f"no clear difference from {than}: what there is could be noise alone"
    return f"{_how_much(change)} {than}; the change is larger than the noise"


def how_sure(number: Number) -> str:
    """In plain words, for those who do not read ±."""
    if number.value is None:
        return "It is not shown, because its noise would drown it."
    low = number.value - (number.half_width or 0.0)
    high = number.value + (number.half_width or 0.0)
    scale, name = _scale(number.value)
    places = _places((number.half_width or 0.0) / scale)
    between = f"{_written(low / scale, places)} and {_written(high / scale, places)}"
    return f"95 times in 100 the true sum lies between {' '.join(filter(None, [between, name]))}."


def did(activity: str) -> str:
    """`drove`, for a sentence about kilometres."""
    return _DID.get(activity, f"did {activity} for")


def _how_much(change: Change) -> str:
    word = "more" if change.difference > 0 else "less"
    if change.percent is None:
        return f"{word} than"
    percent = abs(change.percent)
    if word == "more" and percent >= 99.5:
        return f"{_written(1 + percent / 100, 1)} times as much as"
    return f"{_written(percent, 0 if percent >= 10 else 1)} % {word} than"


def _scale(value: float) -> tuple[float, str]:
    return next(((s, name) for s, name in _SCALES if abs(value) >= s), (1.0, ""))


def _places(half_width: float) -> int:
    if not 0 < half_width < math.inf:
        return 0
    return _DIGITS - 1 - math.floor(math.log10(half_width))


def _written(number: float, places: int) -> str:
    written = f"{round(number, places):,.{max(places, 0)}f}"
    return written.replace("-", "−").replace("inf", "∞")
