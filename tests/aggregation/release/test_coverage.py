"""Intervals cover the truth as often as they say, clipping included, on other people than fitted.

Populations are bounded by the code of phones, summed by the core, noised and decoded; what an
interval must cover is the true sum before any bounding.
"""

from dataclasses import dataclass

import msgspec
import numpy as np
import pytest

from aggregation.release.clipping import fit_clip_uncertainty
from aggregation.release.estimates import Estimates, cell_estimates
from aggregation.release.marginals import marginal
from aggregation.release.noise import add_noise
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe
from aggregation.release.tables import table
from tests.aggregation.release.examples import METRICS, report_of
from tests.aggregation.release.population import population, summed, tuned

CELLS = ("region", "activity", "direction")


@dataclass(frozen=True)
class Summed:
    sums: np.ndarray
    truth: np.ndarray


@pytest.fixture(scope="module")
def made(size: str) -> Recipe:
    """Scales, bound, correction and clip uncertainty, all of one proxy population."""
    devices, regions = _size(size)
    proxy = population(devices, regions, seed=1)
    plain = tuned(proxy, regions, quantile=0.98, epsilon="8")
    clipped = plain.arithmetic.decode(summed(plain, proxy).sums)
    clip = fit_clip_uncertainty(
        proxy.truth, clipped, plain.cells, METRICS, count="num_trips", source="A proxy"
    )
    config = msgspec.structs.replace(plain.config, clip_uncertainty=clip)
    return Recipe.of(config, {}.__getitem__)


@pytest.fixture(scope="module")
def others(made: Recipe, size: str) -> list[Summed]:
    """Eight other populations."""
    people = (population(*_size(size), seed=seed) for seed in range(2, 10))
    return [Summed(summed(made, those).sums, those.truth) for those in people]


def _size(size: str) -> tuple[int, int]:
    return (60_000, 60) if size == "everyday" else (300_000, 300)


def _coverage(made: Recipe, others: list[Summed], by: tuple[str, ...]) -> tuple[float, ...]:
    """Of two releases each: the share of shown values whose interval holds the truth, the same
    with the noise's interval, and the share that is shown."""
    inside, by_noise, shown, all_of_them = 0, 0, 0, 0
    gone = tuple(i for i, name in enumerate(CELLS) if name not in by)
    for people in [*others, *others]:
        truth = people.truth.reshape(*made.cells.counts, -1).sum(axis=gone).reshape(-1, 3)
        noised = add_noise(report_of(people.sums.copy()), made)
        for place, column in enumerate(table(_estimates(made, noised, by), made.config).columns):
            kept = np.isfinite(column.values)
            error = np.abs(column.values - truth[:, place])[kept]
            inside += (error <= column.half_width[kept]).sum()
            by_noise += (error <= column.noise_half_width[kept]).sum()
            shown += kept.sum()
            all_of_them += len(kept)
    return inside / shown, by_noise / shown, shown / all_of_them


def _estimates(made: Recipe, noised: Noised, by: tuple[str, ...]) -> Estimates:
    return cell_estimates(noised, made) if by == CELLS else marginal(noised, made, by)


@pytest.mark.parametrize(
    "by", [CELLS, ("region", "activity"), ("region", "direction"), ("region",)], ids="-".join
)
def test_cells_and_their_sums_cover(made, others, by: tuple[str, ...]) -> None:
    """93 to 97.5 %, of 2,880 values and more; the noise alone would cover 75 to 89 %."""
    covered, by_noise_alone, shown = _coverage(made, others, by)
    assert shown > 0.8
    assert 0.93 < covered < 0.975
    assert by_noise_alone < 0.9


@pytest.mark.parametrize("by", [("activity",), ("direction",), ()], ids="-".join)
def test_sums_over_all_places_cover(made, others, by: tuple[str, ...]) -> None:
    """At least 93 %. What is left in them is mostly the chance of one proxy, the same in every
    release, so that no rate is to be met."""
    covered, by_noise_alone, _ = _coverage(made, others, by)
    assert covered > 0.93
    assert by_noise_alone < 0.85


def test_the_fit_knows_what_goes_together(made: Recipe) -> None:
    """A device's trips are scaled by one factor; kilometres differ from trip to trip as well."""
    given = made.config.clip_uncertainty
    assert given is not None
    together = [float(given.metrics[metric].together) for metric in METRICS]
    assert together[0] > 0.85
    assert 0.15 < together[1] < together[2] < 0.75
