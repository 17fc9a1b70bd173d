"""Derived columns: averages and ratios of noised sums, with intervals of their own.

For R = factor · X / Y the noise of numerator and denominator is known with its covariance, so the
interval is Fieller's: all r for which X − r·Y lies within its own noise. With q the half-width of
the noise in standard deviations and g = (q σ_Y / Y)²,

    centre = (r − g · cov/σ_Y²) / (1 − g)
    width  = q / (1 − g) / |Y| · √(σ_X² − 2 r cov + r² σ_Y² − g (σ_X² − cov²/σ_Y²))

and the half-width that we show is what reaches it from r on both sides. Where g ≥ 1 the
denominator is lost in its noise and no interval is finite. For q the longer-tailed of the two
laws is taken. Clip uncertainties of both are added in quadrature, as if they were independent;
they mostly go together and cancel, so this is wide rather than narrow.

A ratio is suppressed where its row is, and where its denominator would be on its own account.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aggregation.protocol.part import Floats
from aggregation.protocol.server_config import Derived
from aggregation.release.estimates import LEVEL, Estimates
from aggregation.release.sum_law import Spread


@dataclass(frozen=True, eq=False)
class Ratio:
    """Values and half-widths of some rows; not finite where the denominator is lost."""

    values: Floats
    noise_half_width: Floats
    clip_correction: Floats
    clip_uncertainty: Floats | None


def ratio(estimates: Estimates, derived: Derived, rows: slice) -> Ratio:
    top, bottom = estimates.metric(derived.numerator), estimates.metric(derived.denominator)
    x, y = estimates.values[rows, top], estimates.values[rows, bottom]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        plain = x / y
        width = _fieller(estimates, top, bottom, rows, plain)
        clip = _clip(estimates, top, bottom, rows, plain)
        corrected = _correction(estimates, top, bottom, rows)
    size = abs(derived.factor)
    return Ratio(
        values=derived.factor * plain,
        noise_half_width=size * width,
        clip_correction=corrected,
        clip_uncertainty=None if clip is None else size * clip,
    )


def _fieller(estimates: Estimates, top: int, bottom: int, rows: slice, r: Floats) -> Floats:
    law, classes = estimates.law, estimates.classes[rows]
    var_x = law.covariance[classes, top, top]
    var_y = law.covariance[classes, bottom, bottom]
    cov = law.covariance[classes, top, bottom]
    draws = np.minimum(law.draws[:, top], law.draws[:, bottom])
    unit = np.ones_like(draws)
    q = Spread(unit, 3 * unit / draws).half_width(LEVEL)[classes]
    y = estimates.values[rows, bottom]
    g = q**2 * var_y / y**2
    inside = var_x - 2 * r * cov + r**2 * var_y - g * (var_x - cov**2 / var_y)
    reach = q / (1 - g) / np.abs(y) * np.sqrt(np.maximum(inside, 0.0))
    shift = np.abs((r - g * cov / var_y) / (1 - g) - r)
    width: Floats = np.where(g < 1, reach + shift, np.inf)
    return width


def _clip(estimates: Estimates, top: int, bottom: int, rows: slice, r: Floats) -> Floats | None:
    if estimates.clip is None:
        return None
    clip = estimates.clip[rows]
    both = np.hypot(clip[:, top], r * clip[:, bottom])
    width: Floats = both / np.abs(estimates.values[rows, bottom])
    return width


def _correction(estimates: Estimates, top: int, bottom: int, rows: slice) -> Floats:
    given = estimates.correction
    own = given if len(given) == 1 else given[rows]
    found: Floats = (1 + own[:, top]) / (1 + own[:, bottom]) - 1
    return np.broadcast_to(found, (len(estimates.values[rows]),))
