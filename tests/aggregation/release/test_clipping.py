"""Clip uncertainty of sums where most places are empty: noise there must not decide it."""

import numpy as np
import pytest

from aggregation.protocol.anonymization import GRID
from aggregation.protocol.ranks import Cells
from aggregation.release.clipping import ClipLaw
from aggregation.release.emissions import emission_tables
from aggregation.release.estimates import cell_estimates
from aggregation.release.grouping import Grouping
from aggregation.release.marginals import marginal
from aggregation.release.noise import add_noise
from tests.aggregation.release.examples import DOMAINS, METRICS, clip_uncertainty, recipe, report_of

FILLED = 5
EMPTY = 5000


def _recipe(places: int):
    domains = {**DOMAINS, "region": tuple(str(n) for n in range(places))}
    return recipe(domains=domains, clip_uncertainty=clip_uncertainty(3, together=0.5))


def _noised(made, *, directions: int = 2):
    """The first places have people, in the first directions; all others have noise alone."""
    sums = np.zeros((made.cells.counts[0], 2, 2, len(METRICS)))
    sums[:FILLED, :, :directions] = 400 * GRID
    return add_noise(report_of(sums.reshape(made.shape)), made)


@pytest.mark.parametrize("by", [("region",), ("region", "activity"), ("region", "direction")])
@pytest.mark.parametrize("directions", [1, 2])
def test_places_with_people_do_not_care_how_many_are_empty(by, directions) -> None:
    """Before, noise over empty places could outweigh the events, and widths grew without bound."""
    alone, among = _recipe(FILLED), _recipe(FILLED + EMPTY)
    few = marginal(_noised(alone, directions=directions), alone, by)
    many = marginal(_noised(among, directions=directions), among, by)
    assert few.clip is not None
    assert many.clip is not None
    filled = few.values[:, 0] > 1000
    ratio = many.clip[: len(few.clip)][filled] / few.clip[filled]
    assert (ratio > 0.7).all()
    assert (ratio < 1.4).all()


def test_emissions_do_not_care_either() -> None:
    alone, among = _recipe(FILLED), _recipe(FILLED + EMPTY)
    widths = []
    for made in (alone, among):
        grouping = Grouping.by("country", "region", ["FR"] * made.cells.counts[0])
        estimates = cell_estimates(_noised(made, directions=1), made)
        only = [("region", "activity")]
        (table,) = emission_tables(estimates, made, grouping=grouping, only=only)
        widths.append(table.columns[0].clip_uncertainty[1 : 2 * FILLED : 2])
    assert (widths[1] / widths[0] > 0.7).all()
    assert (widths[1] / widths[0] < 1.4).all()


def test_a_kind_that_stands_out_nowhere_counts_nothing() -> None:
    terms = clip_uncertainty(3)
    law = ClipLaw.of(terms, METRICS)
    cells = Cells(("region", "activity"), (("1", "2"), ("walking", "driving")))
    kinds = np.array([[1000.0, 9, 9], [50, 9e9, 9], [900, 9, 9], [-60, -9e9, 9]])
    squares = law.random_squares(kinds, np.full(4, 10.0), cells)
    assert squares[0, 0] == pytest.approx(9 * 1000)
    assert (squares[[1, 3]] == 0).all()


@pytest.mark.parametrize(("alike", "times"), [(0, 2**0.5), (0.25, 2.5**0.5), (1, 2)])
def test_systematic_shares_of_a_sum(alike: float, times: float) -> None:
    """Over places they add up; over two kinds between √2 and 2 times one of them."""
    law = ClipLaw.of(clip_uncertainty(0, systematic=0.1, alike=alike), METRICS)
    cells = Cells(("activity",), (("walking", "driving"),))
    kinds = np.full((2, 3), 500.0)
    (width,) = law.of_sums(np.full((1, 3), 1000.0), kinds, np.ones(2), cells, ())
    np.testing.assert_allclose(width, times * 0.1 * 500)
