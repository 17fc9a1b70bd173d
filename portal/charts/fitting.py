"""One chart for wide rooms and one for narrow ones; the page's styles show the one that fits."""

from collections.abc import Callable

WIDE, NARROW = 720, 360


def fitted(draw: Callable[[int], str], *, wide: int = WIDE) -> str:
    """`fitted(lambda width: histogram(…, width=width))`: both, in an element that picks one."""
    drawn = [("wide", draw(wide)), ("narrow", draw(NARROW))]
    inside = "".join(f'<div class="chart-{kind}">{svg}</div>' for kind, svg in drawn)
    return f'<div class="chart-fit">{inside}</div>'
