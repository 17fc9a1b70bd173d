"""Ratios of released numbers: how far the interval of X / Y reaches where both carry noise.

The interval is Fieller's: all r for which X − r·Y lies within its own half-width w(r). At the true
ratio, X − r·Y has nothing but noise in it, so the interval holds the true ratio as often as w(r)
holds that noise, however near Y is to its own. With w(r)² a quadratic in r, these r lie between
the two roots of a quadratic, as long as Y stands out of its noise; else there is no end to them.

*Two numbers apart* (two windows): squares add, as in `change`, so w(r)² = w_X² + r² w_Y².

*A part of its whole* (cycling among all activities of a place): Y is X and the rest R, summed from
the same noised cells, so X's error is in Y, too. X − r·Y = (1 − r)·X − r·R, hence

    w(r)² = (1 − r)² w_X² + r² w_R².

The noise of X and of R was drawn apart, so squares add, which is a little wide for Laplace noise
(`change`). What clipping moved in the two goes together, by a share between 0 and 1, as phones
lose to the clip in all their cells at once (`ClipUncertainty`). In (1 − r)·X − r·R that cancels in
part; squares add as if it did not, which is wide again. Where only the whole is released, w_Y
stands for w_R: Y has R's error and more, of which none cancels, so it is no narrower.

The interval is not the same to both sides. Of a change we show both ends: at r = 1 the rule above
is the one by which a difference is clear, so that a change of 0 % lies within the ends just where
it is not. Of a share we show the longer side as the half-width.
"""

from __future__ import annotations

import math

from portal.releases.reading import Number

Ends = tuple[float, float]


def apart(top: Number, bottom: Number) -> Ends | None:
    """Both ends of the ratio of two numbers with noise of their own; None where it is endless."""
    x, y = top.value or 0.0, bottom.value or 0.0
    x_width, y_width = top.half_width or 0.0, bottom.half_width or 0.0
    return _ends(y, a=y**2 - y_width**2, b=x * y, c=x**2 - x_width**2)


def within(part: Number, whole: Number) -> float | None:
    """Half-width of the share that a part has of its whole; None where it is endless."""
    return _share(part, whole.value or 0.0, whole)


def beside(part: Number, rest: Number) -> float | None:
    """The same, where the rest is known by itself."""
    return _share(part, (part.value or 0.0) + (rest.value or 0.0), rest)


def longer(ends: Ends | None, middle: float) -> float | None:
    """From the middle to the farther end."""
    return None if ends is None else max(ends[1] - middle, middle - ends[0])


def _share(part: Number, y: float, rest: Number) -> float | None:
    x, x_square = part.value or 0.0, (part.half_width or 0.0) ** 2
    rest_square = (rest.half_width or 0.0) ** 2
    ends = _ends(y, a=y**2 - x_square - rest_square, b=x * y - x_square, c=x**2 - x_square)
    return longer(ends, x / y) if ends else None


def _ends(y: float, *, a: float, b: float, c: float) -> Ends | None:
    """Of the r with a·r² − 2b·r + c ≤ 0."""
    if not (a > 0 and y > 0 and math.isfinite(a)):
        return None
    root = math.sqrt(max(b**2 - a * c, 0.0))
    return (b - root) / a, (b + root) / a
