"""Intervals cover the truth as often as they say, clipping included, on other people than fitted.

Populations are bounded by the code of phones, summed by the core, noised and decoded; what an
interval must cover is the true sum before any bounding. In sums over all places the chance of the
proxy that everything was fitted on is as large as all the rest, so each release has its own fit.
"""

from dataclasses import dataclass
from functools import cache
from math import sqrt

import msgspec
import numpy as np
import pytest

from aggregation.release.clip_fit import fit_clip_uncertainty
from aggregation.release.estimates import Estimates, cell_estimates
from aggregation.release.grouping import Grouping
from aggregation.release.marginals import marginal
from aggregation.release.noise import add_noise
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe
from aggregation.release.tables import table
from tests.aggregation.release.examples import DOMAINS, METRICS, report_of
from tests.aggregation.release.population import population, summed, tuned

CELLS = ("region", "activity", "direction")
KINDS = ("activity", "direction")
WITHIN_PLACES = [CELLS, ("region", "activity"), ("region", "direction"), ("region",)]
OF_COUNTRIES = [("country", *KINDS), ("country", "activity"), ("country",)]
OVER_ALL = [KINDS, ("activity",), ("direction",), ()]
COUNTRIES = 4


@dataclass(frozen=True)
class Covered:
    """Of shown values: the share whose interval holds the truth, and that whose noise's does."""

    share: float
    by_noise: float
    # Mean square of errors in standard errors: 1 where intervals are as wide as they should be.
    square: float
    shown: float
    fits: int

    def within(self, least: float, most: float) -> bool:
        """Give or take 2 standard errors: the metrics of one fit count as one draw and a half."""
        error = 2 * sqrt(0.05 * 0.95 / (1.5 * self.fits))
        return least - error < self.share < most + error


@pytest.fixture(scope="module")
def covered(size: str):
    """Of releases by these keys, where ρ is by those."""
    sizes = (40, 20_000, 20) if size == "everyday" else (400, 60_000, 60)

    @cache
    def by_all_keys(sliced: tuple[str, ...]) -> dict[tuple[str, ...], Covered]:
        return _covered(sliced, *sizes)

    return lambda sliced, by: by_all_keys(sliced)[by]


def _covered(sliced, fits: int, devices: int, regions: int) -> dict[tuple[str, ...], Covered]:
    counts = {by: np.zeros(5) for by in (*WITHIN_PLACES, *OF_COUNTRIES, *OVER_ALL)}
    for fit in range(fits):
        made = _fitted(sliced, devices, regions, seed=2 * fit)
        people = population(devices, regions, seed=2 * fit + 1)
        noised = add_noise(report_of(summed(made, people).sums.copy()), made)
        for by, count in counts.items():
            counts[by] = count + _counts(
                _estimates(made, noised, by), made, _truth(people.truth, by)
            )
    return {
        by: Covered(inside / shown, by_noise / shown, square / shown, shown / cells, fits)
        for by, (inside, by_noise, square, shown, cells) in counts.items()
    }


def _fitted(sliced, devices: int, regions: int, *, seed: int) -> Recipe:
    """Scales, bound, correction and clip uncertainty, all of one proxy population."""
    proxy = population(devices, regions, seed=seed)
    plain = tuned(proxy, regions, quantile=0.98, by=sliced, epsilon="8")
    clipped = plain.arithmetic.decode(summed(plain, proxy).sums)
    clip = fit_clip_uncertainty(
        proxy.truth, clipped, plain.cells, METRICS, count="num_trips", source="A proxy"
    )
    config = msgspec.structs.replace(plain.config, clip_uncertainty=clip)
    return Recipe.of(config, {}.__getitem__)


def _estimates(made: Recipe, noised: Noised, by: tuple[str, ...]) -> Estimates:
    if by == CELLS:
        return cell_estimates(noised, made)
    names = [f"C{place % COUNTRIES}" for place in range(made.cells.counts[0])]
    return marginal(noised, made, by, grouping=Grouping.by("country", "region", names))


def _truth(cells: np.ndarray, by: tuple[str, ...]) -> np.ndarray:
    cube = cells.reshape(-1, *(len(DOMAINS[name]) for name in KINDS), len(METRICS))
    if "country" in by:
        cube = cube.reshape(-1, COUNTRIES, *cube.shape[1:]).sum(axis=0)
    gone = [axis + 1 for axis, name in enumerate(KINDS) if name not in by]
    gone += [] if {"region", "country"} & set(by) else [0]
    return cube.sum(axis=tuple(gone)).reshape(-1, len(METRICS))


def _counts(estimates: Estimates, made: Recipe, truth: np.ndarray) -> np.ndarray:
    """How many values are inside, inside by noise alone; squares; how many are shown, and there."""
    total = np.zeros(5)
    for place, column in enumerate(table(estimates, made.config).columns):
        kept = np.isfinite(column.values)
        error = np.abs(column.values - truth[:, place])[kept]
        inside = (error <= column.half_width[kept]).sum()
        by_noise = (error <= column.noise_half_width[kept]).sum()
        square = ((1.96 * error / column.half_width[kept]) ** 2).sum()
        total += (inside, by_noise, square, kept.sum(), len(kept))
    return total


@pytest.mark.parametrize("by", [*WITHIN_PLACES, *OF_COUNTRIES, *OVER_ALL], ids="-".join)
def test_cells_and_all_their_sums_cover(covered, by: tuple[str, ...]) -> None:
    """93 to 97.5 %; the noise alone would cover 88 % of cells, and 63 % of the sum of all."""
    found = covered(KINDS, by)
    assert found.shown > 0.8
    assert 0.93 < found.share < 0.975, found
    assert 0.75 < found.square < 1.35, found
    assert found.by_noise < 0.9, found


@pytest.mark.parametrize("by", [*WITHIN_PLACES, *OF_COUNTRIES, *OVER_ALL], ids="-".join)
def test_where_kinds_share_a_correction_no_sum_covers_less(covered, by: tuple[str, ...]) -> None:
    """Directions lose differently, and a ρ of both leaves each a bias. A sum over both has none,
    and its interval may be wide."""
    found = covered(("activity",), by)
    assert found.within(0.93, 0.98), found
    assert 0.5 < found.square < 1.35, found


def test_the_fit_knows_what_goes_together() -> None:
    """A device's trips are scaled by one factor; kilometres differ from trip to trip as well."""
    given = _fitted(KINDS, 60_000, 60, seed=1).config.clip_uncertainty
    assert given is not None
    together = [float(given.metrics[metric].together) for metric in METRICS]
    assert together[0] > 0.85
    assert 0.15 < together[1] < together[2] < 0.75
    alike = [float(given.metrics[metric].alike) for metric in METRICS]
    assert alike[0] > 0.6
    assert all(0.15 < value < 0.6 for value in alike[1:])
