"""One rule for every number with an interval, on charts, in tables and in sentences.

A half-width has two digits, its value ends at the same place, and so do the ends of the interval:
they are those of the numbers as they are written, so that whoever adds them up finds them.
"""

import math
from typing import Final

# Digits of a half-width that say something.
_DIGITS: Final = 2
# From here on: what a number is divided by, its sign on a chart, its word in a sentence.
_SCALES: Final = (
    (1e12, "tn", "trillion"),
    (1e9, "bn", "billion"),
    (1e6, "M", "million"),
)


def places_of(half_width: float) -> int:
    """Digits behind the point; below 0 for tens and hundreds. 9.96 is written 10, not 10.0."""
    if not 0 < half_width < math.inf:
        return 0
    return _DIGITS - 1 - int(f"{half_width:.{_DIGITS - 1}e}".partition("e")[2])


def written(number: float, places: int) -> str:
    """`12,340`, `−0.31`; nothing is ever minus zero."""
    text = f"{rounded(number, places):,.{max(places, 0)}f}"
    return text.replace("-", "−").replace("inf", "∞")


def rounded(number: float, places: int) -> float:
    """Halves go away from zero, as people round: 1,850 is 1,900, and 2,450 is 2,500."""
    if not math.isfinite(number):
        return number
    scaled = math.floor(abs(number) * 10.0**places + 0.5 + 1e-9) / 10.0**places
    return math.copysign(scaled, number) if scaled else 0.0


def signed(number: float, places: int) -> str:
    """`+12`, for a difference; what rounds to zero has no sign."""
    text = written(number, places)
    return text if rounded(number, places) <= 0 else f"+{text}"


def ends(value: float, half_width: float) -> tuple[str, str]:
    """Both ends of an interval, as the two numbers beside them are written."""
    places = places_of(half_width)
    value, half_width = rounded(value, places), rounded(half_width, places)
    return written(value - half_width, places), written(value + half_width, places)


def span(low: float, high: float) -> str:
    """`+7 to +140`: both ends of a change, with more digits where one would else seem to be 0."""
    places = places_of((high - low) / 2)
    if low * high > 0:
        places = max(places, places_of(min(abs(low), abs(high))) - 1)
    return f"{signed(low, places)} to {signed(high, places)}"


def magnitude(value: float) -> tuple[float, str, str]:
    """The million or billion that a number is written in, as sign and as word; below: as it is."""
    size = abs(value)
    if not math.isfinite(size):
        return 1.0, "", ""
    return next((one for one in _SCALES if size >= one[0]), (1.0, "", ""))


def scale_for(value: float, half_width: float) -> tuple[float, str, str]:
    """The magnitude that both are written in: that of the larger one."""
    return magnitude(max(abs(value), half_width) if math.isfinite(half_width) else value)
