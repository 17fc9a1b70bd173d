"""Intervals cover the truth as often as they say, clipping included, on other people than fitted.

A population is bounded by the code of phones, summed by the core, noised and decoded; what an
interval must cover is the true sum before any bounding.
"""

import numpy as np
import pytest

from aggregation.release.clipping import ClipUncertainty, fit_clip_uncertainty
from aggregation.release.estimates import cell_estimates
from aggregation.release.marginals import marginal
from aggregation.release.noise import add_noise
from aggregation.release.recipe import Recipe
from aggregation.release.tables import table
from tests.aggregation.release.examples import METRICS, report_of
from tests.aggregation.release.population import Population, population, summed, tuned


@pytest.fixture(scope="module")
def fitted(size: str) -> tuple[Recipe, ClipUncertainty, Population, np.ndarray]:
    devices, regions = (60_000, 60) if size == "everyday" else (600_000, 300)
    proxy = population(devices, regions, seed=1)
    made = tuned(proxy, regions, quantile=0.98, epsilon="8")
    clipped = made.arithmetic.decode(summed(made, proxy).sums)
    clip = fit_clip_uncertainty(proxy.truth, clipped, METRICS, count="num_trips")
    people = population(devices, regions, seed=2)
    return made, clip, people, summed(made, people).sums


def _coverage(made, clip, people, sums, by=None):
    """Share of shown values whose interval holds the truth, per 20 releases."""
    inside, shown, noise_only = 0, 0, 0
    for _ in range(20):
        noised = add_noise(report_of(sums.copy()), made)
        if by is None:
            found, truth = cell_estimates(noised, made, clip=clip), people.truth
        else:
            found = marginal(noised, made, by, clip=clip)
            cube = people.truth.reshape(*made.cells.counts, -1)
            gone = tuple(i for i, n in enumerate(made.cells.names) if n not in by)
            truth = cube.sum(axis=gone).reshape(len(found.values), -1)
        seen = table(found, made.config)
        for place, column in enumerate(seen.columns):
            kept = np.isfinite(column.values)
            error = np.abs(column.values - truth[:, place])[kept]
            inside += (error <= column.half_width[kept]).sum()
            noise_only += (error <= column.noise_half_width[kept]).sum()
            shown += kept.sum()
    return inside / shown, noise_only / shown, shown / (20 * truth.size)


def test_cells_cover(fitted) -> None:
    """93 to 97.5 % of some 10,000 shown values; fixed people, so only the noise is random."""
    covered, by_noise_alone, shown = _coverage(*fitted)
    assert shown > 0.5
    assert 0.93 < covered < 0.975
    assert by_noise_alone < covered - 0.01


@pytest.mark.parametrize("by", [("region", "direction"), ("region",)], ids="-".join)
def test_marginals_cover(fitted, by: tuple[str, ...]) -> None:
    covered, _, shown = _coverage(*fitted, by=by)
    assert shown > 0.9
    assert 0.93 < covered < 0.985
