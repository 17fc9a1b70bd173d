"""Ratios of released numbers: how far the interval of X / Y reaches where both carry noise.

The interval is Fieller's: all r for which X − r·Y lies within its own half-width w(r). At the true
ratio, X − r·Y has nothing but noise in it, so the interval holds the true ratio as often as w(r)
holds that noise, however near Y is to its own. With w(r)² a quadratic in r, these r lie between
the two roots of a quadratic, as long as Y stands out of its noise; else there is no end to them.

*Two numbers apart* (two windows): their noise is independent, so w(r)² = w_X² + r² w_Y².

*A part of its whole* (cycling among all activities of a place): Y is X and the rest R, summed from
the same noised cells, so X's noise is in Y, too. X − r·Y = (1 − r)·X − r·R, and X and R were drawn
apart. R's noise is no wider than Y's, which is R's and more, so

    noise² = (1 − r)² n_X² + r² n_Y²

is at least what is true. That squares of half-widths add is itself a little wide for Laplace
noise (`change`). What clipping moved, c, goes together in a part and its whole, and mostly cancels.
It is counted as if it were apart, c_X² + r² c_Y²: wide again.

The interval is not the same to both sides; what we show is the longer one.
"""

from __future__ import annotations

import math

from portal.releases.reading import Number


def apart(top: Number, bottom: Number) -> float | None:
    """Half-width of the ratio of two numbers with noise of their own; None where it is endless."""
    x, y = top.value or 0.0, bottom.value or 0.0
    x_width, y_width = top.half_width or 0.0, bottom.half_width or 0.0
    return _reach(x, y, a=y**2 - y_width**2, b=x * y, c=x**2 - x_width**2)


def within(part: Number, whole: Number) -> float | None:
    """Half-width of the share that a part has of its whole; None where it is endless."""
    x, y = part.value or 0.0, whole.value or 0.0
    (x_noise, x_clip), (y_noise, y_clip) = _terms(part), _terms(whole)
    return _reach(
        x,
        y,
        a=y**2 - x_noise**2 - y_noise**2 - y_clip**2,
        b=x * y - x_noise**2,
        c=x**2 - x_noise**2 - x_clip**2,
    )


def _terms(number: Number) -> tuple[float, float]:
    """Noise, and the rest of the half-width."""
    width = number.half_width or 0.0
    noise = width if number.noise is None else min(number.noise, width)
    return noise, math.sqrt(width**2 - noise**2)


def _reach(x: float, y: float, *, a: float, b: float, c: float) -> float | None:
    """From x / y to the farther end of the r with a·r² − 2b·r + c ≤ 0."""
    if not (a > 0 and y > 0 and math.isfinite(a)):
        return None
    root = math.sqrt(max(b**2 - a * c, 0.0))
    return max((b + root) / a - x / y, x / y - (b - root) / a)
