"""Emissions: CO₂e by place, activity and direction, from noised kilometres and public factors.

Post-processing: it reads estimates that carry their noise already, so it costs no ε. A cell's
emissions are its kilometres times a public factor (`emission_factors`), so its interval is that of
the kilometres times the same factor. Sums over keys are summed from **all** cells before
suppression; the variances and fourth cumulants of the noise add (`sum_law`), and clip uncertainties
as those of other sums do (`clipping`).
The rule of suppression is the task's own, on the noised emissions: shown iff they are at least
(mean size of their noise) / X. What emits nothing is 0, and is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aggregation.errors import Problem
from aggregation.protocol.part import Floats
from aggregation.protocol.ranks import Cells
from aggregation.release.axes import collapse, grouped
from aggregation.release.clipping import PLACES, added
from aggregation.release.emission_factors import AVERAGE, FactorTable, factor_table
from aggregation.release.estimates import LEVEL, Estimates
from aggregation.release.grouping import Grouping
from aggregation.release.marginals import subsets
from aggregation.release.recipe import Recipe
from aggregation.release.sum_law import Spread
from aggregation.release.tables import Note, Table, shown

COLUMN: Final = "co2e_kg"
DISTANCE, ACTIVITY, COUNTRY = "distance_km", "activity", "country"
# Where the factors of a row come from.
BASES: Final = ("the country's own factors", "average factors", "partly average factors")


@dataclass(frozen=True, eq=False)
class _Parts:
    """What adds up: one column each, one row per cell."""

    cells: Cells
    # Value, variance, fourth cumulant, value before the clip correction; then how many cells have
    # a factor, and how many an average one.
    sums: Floats
    # Half-widths of clip uncertainty, which add in another way.
    clip: Floats | None
    # Of cells: squares of its random part, as they add up.
    random: Floats | None


def emission_tables(
    estimates: Estimates,
    recipe: Recipe,
    *,
    grouping: Grouping | None = None,
    only: Iterable[tuple[str, ...]] | None = None,
) -> Iterator[Table]:
    """Emissions of all cells, then of every subset of the keys, or only of those asked for."""
    parts = _of_cells(estimates, recipe, grouping, factor_table())
    whole = recipe.cells.names
    for by in only if only is not None else (whole, *subsets(recipe, grouping)):
        summed = parts if by == whole else _summed(parts, by, grouping, recipe)
        exact = estimates if by == whole else None
        yield _table(summed, recipe, exact=exact)


def row_factors(
    cells: Cells, grouping: Grouping | None, factors: FactorTable
) -> tuple[Floats, NDArray[np.bool_]]:
    """Kilograms per kilometre of each cell, and whether an average is in it."""
    if ACTIVITY not in cells.names:
        raise Problem("Emissions need the key activity.", hint="Group by activity.")
    ranks = np.arange(cells.size)
    countries, place = _countries(cells, grouping, ranks)
    activities = [str(a) for a in cells.domains[cells.names.index(ACTIVITY)]]
    known = [[factors.factor(a, c) for a in activities] for c in countries]
    grams = np.array([[f.grams_per_km for f in row] for row in known])
    average = np.array([[f.is_average for f in row] for row in known])
    at = (place, cells.indices(ranks, ACTIVITY))
    return grams[at] / 1000, average[at]


def _countries(
    cells: Cells, grouping: Grouping | None, ranks: NDArray[np.int64]
) -> tuple[list[str], NDArray[np.int64]]:
    """Countries, and which of them each cell lies in; the average where none is known."""
    if COUNTRY in cells.names:
        names = [str(c) for c in cells.domains[cells.names.index(COUNTRY)]]
        return names, cells.indices(ranks, COUNTRY)
    if grouping is not None and grouping.name == COUNTRY and grouping.key in cells.names:
        names = [str(c) for c in grouping.groups]
        return names, grouping.group_of[cells.indices(ranks, grouping.key)]
    return [AVERAGE], np.zeros(len(ranks), dtype=np.int64)


def _of_cells(
    estimates: Estimates, recipe: Recipe, grouping: Grouping | None, factors: FactorTable
) -> _Parts:
    if DISTANCE not in estimates.metrics:
        raise Problem("Emissions need the metric distance_km.", hint="Sum distance_km.")
    place = estimates.metric(DISTANCE)
    kilograms, average = row_factors(estimates.cells, grouping, factors)
    law, classes = estimates.law, estimates.classes
    variance = law.covariance[:, place, place]
    spread = Spread(variance, 3 * variance**2 / law.draws[:, place])
    own = Spread(spread.variance[classes], spread.fourth[classes]).scaled(kilograms)
    value = kilograms * estimates.values[:, place] + 0.0  # a factor of 0 must not keep a sign
    given = estimates.correction
    before = value / (1 + (given[0, place] if len(given) == 1 else given[:, place]))
    counts = [(kilograms > 0).astype(float), average.astype(float)]
    sums = np.stack([value, own.variance, own.fourth, before, *counts], axis=1)
    clip = random = None
    if recipe.clip is not None and estimates.clip is not None:
        count = recipe.clip.count
        noise = np.sqrt(law.covariance[classes, count, count])
        squares = recipe.clip.random_squares(estimates.values, noise, estimates.cells)
        random = squares[:, [place]] * kilograms[:, None] ** 2
        clip = estimates.clip[:, place] * kilograms
    return _Parts(estimates.cells, sums, clip, random)


def _summed(parts: _Parts, by: Sequence[str], grouping: Grouping | None, recipe: Recipe) -> _Parts:
    if grouping and grouping.name in by and grouping.applies_to(parts.cells.names):
        parts = _grouped(parts, grouping)
    sums = collapse(parts.sums, parts.cells, by)
    return _Parts(_only(parts.cells, by), sums, _clip(parts, by, recipe), None)


def _grouped(parts: _Parts, grouping: Grouping) -> _Parts:
    cells, random = parts.cells, parts.random
    axis = cells.names.index(grouping.key)
    if random is not None:
        random = grouped(random, cells, axis, grouping.group_of)
    sums = grouped(parts.sums, cells, axis, grouping.group_of)
    return _Parts(grouping.replaced_in(cells), sums, None, random)


def _clip(parts: _Parts, by: Sequence[str], recipe: Recipe) -> Floats | None:
    """Half-widths of clip uncertainty of sums by these keys."""
    law, cells = recipe.clip, parts.cells
    if law is None or parts.random is None:
        return None
    place, values = recipe.metrics.index(DISTANCE), parts.sums[:, :1]
    kept = [n for n in cells.names if n in by or n not in PLACES]
    kinds = _only(cells, kept)
    random = np.maximum(collapse(parts.random, cells, kept), 0.0)
    squares = collapse(collapse(values, cells, kept) ** 2, kinds, by)
    systematic = law.systematic_squares(collapse(values, cells, by), squares, place)
    both = added(random, kinds, by, together=law.together[place]) + systematic
    width: Floats = np.sqrt(both[:, 0])
    return width


def _only(cells: Cells, names: Sequence[str]) -> Cells:
    pairs = [(n, d) for n, d in zip(cells.names, cells.domains, strict=True) if n in names]
    return Cells(tuple(n for n, _ in pairs), tuple(d for _, d in pairs))


def _table(parts: _Parts, recipe: Recipe, *, exact: Estimates | None) -> Table:
    value, _, _, before, counted, averaged = parts.sums.T
    mean_abs, noise = _noise(parts, exact)
    rule = recipe.config.suppression
    kept = value >= mean_abs / rule.max_relative_noise
    correction = np.divide(value, before, out=np.ones_like(value), where=before != 0) - 1
    column = shown(
        COLUMN,
        values=value,
        noise=noise,
        correction=correction,
        clip=parts.clip,
        kept=kept,
        notes=(_basis(counted, averaged),),
    )
    sentence = f"The noise is more than {100 * rule.max_relative_noise:g} % of the emissions."
    return Table(parts.cells, 0, (column,), (~kept).astype(np.uint8), ("", sentence))


def _noise(parts: _Parts, exact: Estimates | None) -> tuple[Floats, Floats]:
    """Mean size and half-width of the noise; single cells have the exact law of kilometres."""
    sigma = np.sqrt(parts.sums[:, 1])
    if exact is None:
        spread = Spread(parts.sums[:, 1], parts.sums[:, 2])
        return spread.mean_abs(), spread.half_width(LEVEL)
    place, law = exact.metric(DISTANCE), exact.law
    unit = np.sqrt(law.covariance[:, place, place])
    shapes = np.stack([law.noise.mean_abs[:, place] / unit, law.noise.half_width[:, place] / unit])
    return sigma * shapes[0, exact.classes], sigma * shapes[1, exact.classes]


def _basis(counted: Floats, averaged: Floats) -> Note:
    codes = np.where(averaged == 0, 0, np.where(averaged < counted, 2, 1)).astype(np.uint8)
    return Note("factors", codes, BASES, counted == 0)
