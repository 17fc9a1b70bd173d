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


def test_one_number_has_one_width_in_all_tables() -> None:
    """Trips are longer in some places than in others; a key with one value changes nothing."""
    places = tuple(str(n) for n in range(8))
    domains = {"region": places, "activity": ("walking", "driving"), "direction": ("within",)}
    terms = clip_uncertainty(3, together=0.5, systematic=0.01)
    made = recipe(domains=domains, clip_uncertainty=terms)
    sums = np.full((8, 2, len(METRICS)), 4000 * GRID)
    sums[:, :, 1] *= np.arange(1, 9)[:, None]  # kilometres per trip
    noised = add_noise(report_of(sums.reshape(made.shape)), made)
    cells, summed = cell_estimates(noised, made), marginal(noised, made, ("region", "activity"))
    np.testing.assert_allclose(summed.clip, cells.clip)
    grouping = Grouping.by("country", "region", ["FR"] * len(places))
    whole, by_place = emission_tables(
        cells, made, grouping=grouping, only=[made.cells.names, ("region", "activity")]
    )
    driving = slice(1, None, 2)
    widths = [table.columns[0].clip_uncertainty[driving] for table in (whole, by_place)]
    np.testing.assert_allclose(widths[0], widths[1])
    kilograms = whole.columns[0].values[driving] / cells.values[driving, 1]
    np.testing.assert_allclose(widths[0], kilograms * cells.clip[driving, 1])


def test_empty_places_add_no_width_to_the_emissions_of_all() -> None:
    """Noise on their events is as often below nothing as above it, and cancels."""
    made = _recipe(FILLED + 4 * EMPTY)
    noised = _noised(made)
    grouping = Grouping.by("country", "region", ["FR"] * made.cells.counts[0])
    (table,) = emission_tables(
        cell_estimates(noised, made), made, grouping=grouping, only=[("activity",)]
    )
    kilometres = marginal(noised, made, ("activity",))
    assert kilometres.clip is not None
    kilograms = table.columns[0].values[1] / kilometres.values[1, 1]
    ratio = table.columns[0].clip_uncertainty[1] / (kilograms * kilometres.clip[1, 1])
    assert 0.7 < ratio < 1.4


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
