"""How numbers are written beside marks and in tooltips."""

import math
from collections.abc import Sequence

from portal.charts.rounding import places_of, scale_for, written
from portal.charts.shapes import Mark

NOT_SHOWN = "not shown"
# From here on: what it is divided by, and its sign.
_SCALES = [(1e12, "tn"), (1e9, "bn"), (1e6, "M"), (1e3, "k")]


def short(value: float) -> str:
    """`1.2 M`: three digits at most, for legends and log axes, which have little room."""
    divisor, sign = _scale_of(value)
    scaled = value / divisor
    return _joined(_trimmed(scaled, _places(abs(scaled) / 100)), sign)


def short_interval(mark: Mark) -> str:
    """`12.4 ± 0.3 M`, or that it is not shown."""
    return _interval(mark, sign=True)


def spoken(mark: Mark, unit: str) -> str:
    """`12.4 ± 0.3 million km`, or `not shown: too few devices`."""
    if mark.value is None:
        return f"{NOT_SHOWN}: {mark.note}" if mark.note else NOT_SHOWN
    words = _joined(_interval(mark, sign=False), unit)
    return f"{words} ({mark.note})" if mark.note else words


def tooltip(label: str, mark: Mark, unit: str) -> str:
    return f"{label}: {spoken(mark, unit)}"


def nothing_shown(marks: Sequence[Mark]) -> str:
    """The sentence in place of a chart that has no number to draw."""
    if not marks:
        return "There is nothing to draw: no number fits what was asked for."
    # Reasons are sentences, and end as such.
    reasons = sorted({_first_small(mark.note.rstrip(".")) for mark in marks if mark.note})
    many = f"None of these {len(marks)} numbers" if len(marks) > 1 else "This number"
    verb = "is shown" if len(marks) > 1 else "is not shown"
    return f"{many} {verb}: {'; '.join(reasons[:3])}." if reasons else f"{many} {verb}."


def _first_small(sentence: str) -> str:
    """To stand behind a colon."""
    return f"{sentence[:1].lower()}{sentence[1:]}"


def is_finite(mark: Mark) -> bool:
    return mark.value is not None and math.isfinite(mark.value)


def half_width(mark: Mark) -> float:
    """How far the interval reaches, where that can be drawn."""
    width = mark.half_width
    return abs(width) if width is not None and math.isfinite(width) else 0.0


def _scale_of(value: float) -> tuple[float, str]:
    """The thousand, million or billion that a number is written in. Below 10,000: as it is."""
    size = abs(value)
    if not math.isfinite(size) or size < 9999.5:
        return 1.0, ""
    # 999,950 is written 1 M, not 1000 k.
    return next(one for one in _SCALES if size >= 0.9995 * one[0])


def _interval(mark: Mark, *, sign: bool) -> str:
    if mark.value is None:
        return NOT_SHOWN
    if not math.isfinite(mark.value):
        return "no number"
    width = mark.half_width
    if width is None or not math.isfinite(width):
        divisor, letter, word = scale_for(mark.value, 0.0)
        scaled = mark.value / divisor
        text = _trimmed(scaled, _places(abs(scaled) / 100))
        text += " ± ∞" if width in (math.inf, -math.inf) else ""
    else:
        divisor, letter, word = scale_for(mark.value, abs(width))
        value, width = mark.value / divisor, abs(width) / divisor
        places = places_of(width)
        text = f"{written(value, places)} ± {written(width, places)}"
    return _joined(text, letter if sign else word)


def _places(step: float) -> int:
    """Digits behind the point of a number that is told to about this step: 0.34 → 1, 0.12 → 2."""
    if step <= 0:
        return 0
    exponent = math.floor(math.log10(step))
    first = step / 10**exponent
    return -exponent if first >= 2.95 else 1 - exponent


def _trimmed(value: float, places: int) -> str:
    text = written(value, max(places, 0))
    return text.rstrip("0").rstrip(".") if "." in text else text


def _joined(*words: str) -> str:
    return " ".join(word for word in words if word)
