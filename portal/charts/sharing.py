"""From values to shares of their sum, with intervals that know the sum is uncertain, too."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from portal.charts.shapes import Group, Mark
from portal.charts.words import half_width, is_finite

Width = Callable[[float, float], float]


def shares(groups: Sequence[Group], *, stacked: bool, totals: Sequence[Mark]) -> list[Group]:
    """Every mark in per cent: of its bar where bars are stacked, of its series otherwise.

    `totals` holds one mark per series, for sums that know more than what is shown.
    """
    if stacked:
        return [replace(one, marks=_of_sum(one.marks), total=None) for one in groups]
    columns = []
    for index, column in enumerate(zip(*(one.marks for one in groups), strict=True)):
        known = totals[index] if index < len(totals) else None
        whole = known is not None and known.value is not None
        columns.append(_of_total(column, known) if known and whole else _of_sum(column))
    rows = zip(*columns, strict=True)
    return [replace(one, marks=marks) for one, marks in zip(groups, rows, strict=True)]


def _of_sum(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Of the sum of what is shown: a mark's own noise is in the sum, and partly cancels."""
    whole = sum(mark.value or 0.0 for mark in marks if is_finite(mark))
    variance = sum(half_width(mark) ** 2 for mark in marks)

    def width(value: float, own: float) -> float:
        part = value / whole
        return math.sqrt((1 - part) ** 2 * own**2 + part**2 * (variance - own**2)) / whole

    if all(is_finite(mark) for mark in marks):
        return tuple(_share(mark, whole, width) for mark in marks)
    return tuple(_share(_remarked(mark), whole, width) for mark in marks)


def _remarked(mark: Mark) -> Mark:
    return mark if mark.note or mark.value is None else replace(mark, note="of what is shown")


def _of_total(marks: Sequence[Mark], total: Mark) -> tuple[Mark, ...]:
    """Of a total with an interval of its own. The two are taken as independent: never too narrow
    where they share noise."""
    whole, whole_width = total.value or 0.0, half_width(total)

    def width(value: float, own: float) -> float:
        return math.sqrt(own**2 + (value / whole * whole_width) ** 2) / whole

    return tuple(_share(mark, whole, width) for mark in marks)


def _share(mark: Mark, whole: float, width: Width) -> Mark:
    if mark.value is None or not is_finite(mark):
        return mark
    if whole <= 0:
        return replace(mark, value=None, half_width=None, note="the sum is not above zero")
    spread = None if mark.half_width is None else 100 * width(mark.value, half_width(mark))
    return replace(mark, value=100 * mark.value / whole, half_width=spread)
