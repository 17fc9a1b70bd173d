"""Emissions against numbers worked out by hand from the file of factors."""

import re

import numpy as np
import pytest

from aggregation.errors import Problem
from aggregation.protocol.anonymization import GRID, JointClipping
from aggregation.protocol.shipped import ACTIVITIES
from aggregation.release.emission_factors import factor_table
from aggregation.release.emissions import emission_tables, row_factors
from aggregation.release.estimates import cell_estimates
from aggregation.release.grouping import Grouping
from aggregation.release.noise import add_noise
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe
from aggregation.release.tables import Table
from tests.aggregation.release.examples import clip_uncertainty, recipe, report_of

# Region 1 lies in Germany, 2 in the United Kingdom, 3 in the United States, 4 in a country without
# figures of its own.
BY_COUNTRY = Grouping.by("country", "region", ["DE", "GB", "US", "XX"])
DOMAINS = {"region": ("1", "2", "3", "4"), "activity": ("walking", "driving", "bus"),
           "direction": ("within", "outbound")}  # fmt: skip


def _recipe(**changes: object) -> Recipe:
    # One grid unit is one kilometre.
    return recipe(mechanism=JointClipping(clip=float(GRID)), domains=DOMAINS, **changes)


def _tables(made: Recipe, kilometres: np.ndarray) -> dict[tuple, Table]:
    """Emissions of so many kilometres in each (region, activity, direction), without noise."""
    sums = np.repeat(kilometres.reshape(-1, 1), 3, axis=1)
    cells = cell_estimates(Noised(sums), made)
    found = emission_tables(cells, made, grouping=BY_COUNTRY)
    return {table.cells.names: table for table in found}


HUGE = 10**9
# Hand-worked, in grams per passenger-kilometre:
# DE  (0.659·170 + 0.317·171 + 0.003·47) / 0.979 / 1.42 = (112.03 + 54.207 + 0.141)/0.979/1.42
# GB  (0.511·170 + 0.419·171 + 0.008·47) / 0.938 / 1.58 = (86.87 + 71.649 + 0.376)/0.938/1.58
# US  248.5485 / 1.67
# FR  (0.39·170 + 0.59·171 + 0.0037·47) / 0.9837 / 1.43 = 167.3639/0.9837/1.43
# JP  128, as it stands
# XX  (86.87 + 71.649 + 0.376)/0.938/1.45; so also Brazil, Finland and India
DRIVING = {"DE": 119.681, "GB": 107.215, "US": 148.8314, "FR": 118.977, "JP": 128.0, "XX": 116.827,
           "BR": 116.827, "FI": 116.827, "IN": 116.827}  # fmt: skip


@pytest.mark.parametrize("country", DRIVING)
def test_driving_is_fleet_mix_times_intensity_over_occupancy(country: str) -> None:
    factor = factor_table().factor("driving", country)
    assert factor.grams_per_km == pytest.approx(DRIVING[country], rel=1e-4)
    assert factor.is_average is (country not in ("US", "JP"))


@pytest.mark.parametrize(
    ("activity", "country", "grams", "average"),
    [("bus", "JP", 71, False), ("train", "JP", 20, False), ("subway", "JP", 20, False),
     ("bus", "GB", 97, False), ("train", "GB", 35, False), ("subway", "GB", 28, False),
     ("bus", "FR", 97, True), ("train", "DE", 35, True), ("flying", "JP", 151, True),
     ("walking", "IN", 0, False)],
)  # fmt: skip
def test_public_transport_has_the_country_s_own_figure_or_a_marked_average(
    activity: str, country: str, grams: float, average: bool
) -> None:
    factor = factor_table().factor(activity, country)
    assert (factor.grams_per_km, factor.is_average) == (grams, average)


def test_cells_are_kilometres_times_their_factor() -> None:
    made = _recipe()
    table = _tables(made, np.full((4, 3, 2), HUGE))["region", "activity", "direction"]
    column = table.column("co2e_kg")
    values = column.values.reshape(4, 3, 2)
    np.testing.assert_array_equal(values[:, 0], 0)  # walking
    np.testing.assert_allclose(values[0, 1], 119_681_000, rtol=1e-4)
    np.testing.assert_allclose(values[2, 1], 148_831_400, rtol=1e-4)
    np.testing.assert_allclose(values[:, 2], 97_000_000)  # bus: 97 g everywhere
    basis = column.notes[0]
    told = [None if a else basis.texts[c] for a, c in zip(basis.absent, basis.codes, strict=True)]
    assert told[0] is None  # nothing burnt, nothing averaged
    by_place = np.array(told, dtype=object).reshape(4, 3, 2)
    assert by_place[2, 1, 0] == "the country's own factors"
    assert by_place[3, 1, 0] == "average factors"


def test_what_emits_nothing_keeps_no_sign_of_its_noise() -> None:
    table = _tables(_recipe(), np.full((4, 3, 2), -5))["region", "activity", "direction"]
    walking = table.column("co2e_kg").values.reshape(4, 3, 2)[:, 0]
    assert (walking == 0).all()
    assert not np.signbit(walking).any()


def test_sums_are_of_all_cells() -> None:
    made, rng = _recipe(), np.random.default_rng(1)
    kilometres = rng.integers(HUGE, 2 * HUGE, (4, 3, 2))
    tables = _tables(made, kilometres)
    assert len(tables) == 12
    cells = tables["region", "activity", "direction"].column("co2e_kg").values.reshape(4, 3, 2)
    for names, axes in ((("region",), (1, 2)), (("activity",), (0, 2)), ((), (0, 1, 2))):
        found = tables[names].column("co2e_kg").values
        np.testing.assert_allclose(found, np.atleast_1d(cells.sum(axis=axes)), rtol=1e-12)
    by_country = tables["country", "direction"].column("co2e_kg").values.reshape(4, 2)
    np.testing.assert_allclose(by_country, cells.sum(axis=1), rtol=1e-12)
    basis = tables[()].column("co2e_kg").notes[0]
    assert basis.texts[basis.codes[0]] == "partly average factors"


def test_the_interval_of_a_cell_is_that_of_its_kilometres() -> None:
    made = _recipe(clip_uncertainty=clip_uncertainty(2, systematic=0.01))
    kilometres = np.full((4, 3, 2), HUGE)
    table = _tables(made, kilometres)["region", "activity", "direction"]
    cells = cell_estimates(Noised(np.full((24, 3), HUGE)), made)
    column = table.column("co2e_kg")
    driving = 6 * 2 + 2  # the United States, within
    factor = 0.2485485 / 1.67
    assert column.noise_half_width[driving] == pytest.approx(
        factor * cells.law.noise.half_width[0, 1]
    )
    assert cells.clip is not None
    assert column.clip_uncertainty is not None
    assert column.clip_uncertainty[driving] == pytest.approx(factor * cells.clip[driving, 1])


def test_the_interval_of_a_cell_is_exact_where_draws_are_mixed() -> None:
    """The law of sums would be close by, and wider."""
    made = recipe("rotated")
    cells = cell_estimates(Noised(np.full(made.shape, HUGE)), made)
    column = next(emission_tables(cells, made)).column("co2e_kg")
    kilograms, _ = row_factors(made.cells, None, factor_table())
    expected = kilograms * cells.law.noise.half_width[cells.classes, 1]
    np.testing.assert_allclose(column.noise_half_width, expected, rtol=1e-12)


def test_the_noise_of_a_sum_has_the_tails_of_those_cells_that_emit() -> None:
    """Walking emits nothing: in a sum of walking and driving there is the noise of one draw."""
    made = _recipe()
    tables = _tables(made, np.full((4, 3, 2), HUGE))
    cells = tables["region", "activity", "direction"].column("co2e_kg").noise_half_width
    narrow = recipe(
        mechanism=JointClipping(clip=float(GRID)),
        domains={**DOMAINS, "activity": ("walking", "driving")},
    )
    noised = Noised(np.full(narrow.shape, HUGE))
    found = emission_tables(cell_estimates(noised, narrow), narrow, grouping=BY_COUNTRY)
    summed = next(t for t in found if t.cells.names == ("region", "direction"))
    np.testing.assert_allclose(
        summed.column("co2e_kg").noise_half_width,
        cells.reshape(4, 3, 2)[:, 1].ravel(),
        rtol=1e-3,
    )


@pytest.mark.parametrize(("together", "times"), [(0, 2**0.5), (0.25, 2.5**0.5), (1, 2)])
def test_clip_uncertainty_of_a_sum(together: float, times: float) -> None:
    """Two directions of a place: between √2 and 2 times one of them. Four places: twice."""
    made = _recipe(clip_uncertainty=clip_uncertainty(2, together=together))
    tables = _tables(made, np.full((4, 3, 2), HUGE))
    one = tables["region", "activity", "direction"].column("co2e_kg").clip_uncertainty
    both = tables["region", "activity"].column("co2e_kg").clip_uncertainty
    everywhere = tables["activity",].column("co2e_kg").clip_uncertainty
    assert one is not None
    assert both is not None
    assert everywhere is not None
    bus = (slice(None), 2)
    np.testing.assert_allclose(both.reshape(4, 3)[bus], times * one.reshape(4, 3, 2)[bus][:, 0])
    np.testing.assert_allclose(everywhere[2], 2 * both.reshape(4, 3)[0, 2])


@pytest.mark.parametrize(("alike", "times"), [(0, 2**0.5), (0.25, 2.5**0.5), (1, 2)])
def test_systematic_shares_of_a_sum(alike: float, times: float) -> None:
    """Two directions of a place: between √2 and 2 times one of them. Four places: four times."""
    made = _recipe(clip_uncertainty=clip_uncertainty(0, systematic=0.1, alike=alike))
    tables = _tables(made, np.full((4, 3, 2), HUGE))
    one = tables["region", "activity", "direction"].column("co2e_kg").clip_uncertainty
    both = tables["region", "activity"].column("co2e_kg").clip_uncertainty
    everywhere = tables["activity",].column("co2e_kg").clip_uncertainty
    assert one is not None
    assert both is not None
    assert everywhere is not None
    bus = (slice(None), 2)
    np.testing.assert_allclose(both.reshape(4, 3)[bus], times * one.reshape(4, 3, 2)[bus][:, 0])
    np.testing.assert_allclose(everywhere[2], both.reshape(4, 3)[:, 2].sum())


def test_intervals_of_sums_cover() -> None:
    """No kilometres at all, 3,000 releases of 24 cells: 95 % within, ±2 points (5 std errors)."""
    count = 3000
    wide = {"release": tuple(map(str, range(count))), **DOMAINS}
    made = recipe(mechanism=JointClipping(clip=float(GRID)), domains=wide, epsilon="0.5")
    sums = np.zeros(made.shape)
    sums[:, 1] = 10**12  # far above suppression
    noised = add_noise(report_of(sums), made)
    cells = cell_estimates(noised, made)
    tables = {t.cells.names: t for t in emission_tables(cells, made, grouping=BY_COUNTRY)}
    for names in (("release",), ("release", "country"), ("release", "activity")):
        column = tables[names].column("co2e_kg")
        truth = np.median(column.values.reshape(count, -1), axis=0)
        inside = np.abs(
            column.values.reshape(count, -1) - truth
        ) <= column.noise_half_width.reshape(count, -1)
        assert np.abs(inside.mean(axis=0)[truth > 0] - 0.95).max() < 0.02


def test_what_drowns_is_suppressed() -> None:
    made = _recipe()
    table = _tables(made, np.full((4, 3, 2), 1))["region", "activity", "direction"]
    values = table.column("co2e_kg").values.reshape(4, 3, 2)
    assert (values[:, 0] == 0).all()
    assert np.isnan(values[:, 1:]).all()
    assert table.sentences[table.reasons[2]] == "The noise is more than 5 % of the emissions."


def test_every_figure_has_a_source_a_year_and_a_unit() -> None:
    table = factor_table()
    assert len({(r.quantity, r.activity, r.fuel, r.country) for r in table.rows}) == len(table.rows)
    for row in table.rows:
        assert len(row.source) > 20
        assert 2000 < row.year <= 2026
        assert re.fullmatch(
            r"(g CO2e?/(passenger|vehicle)-km)|persons/vehicle|share of cars", row.unit
        )
        assert row.country == "*" or re.fullmatch("[A-Z]{2}", row.country)
        assert 0 <= row.value < 400


def test_every_activity_of_the_stream_has_a_factor() -> None:
    for activity in ACTIVITIES:
        assert factor_table().factor(str(activity), "XX").grams_per_km >= 0
    with pytest.raises(Problem, match="no emission factor for the activity 'sailing'"):
        factor_table().factor("sailing", "DE")


def test_without_countries_the_average_is_taken() -> None:
    made = recipe(mechanism=JointClipping(clip=float(GRID)),
                  domains={"activity": ("driving",), "direction": ("within",)})  # fmt: skip
    cells = cell_estimates(Noised(np.full((1, 3), HUGE)), made)
    table = next(emission_tables(cells, made))
    assert table.column("co2e_kg").values[0] == pytest.approx(HUGE * DRIVING["XX"] / 1000, rel=1e-4)


def test_a_task_with_countries_uses_them() -> None:
    made = recipe(mechanism=JointClipping(clip=float(GRID)),
                  domains={"country": ("DE", "US"), "activity": ("driving",)})  # fmt: skip
    cells = cell_estimates(Noised(np.full((2, 3), HUGE)), made)
    values = next(emission_tables(cells, made)).column("co2e_kg").values
    np.testing.assert_allclose(values, [HUGE * 0.119681, HUGE * 0.1488314], rtol=1e-4)
