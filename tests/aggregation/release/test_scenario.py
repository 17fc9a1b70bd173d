"""Scenarios: other factors for cars, nothing else; as it is, nothing changes."""

import pytest

from aggregation.release.emission_factors import AVERAGE, factor_table
from aggregation.release.scenario import Cars, Scenario, ratio

FACTORS = factor_table()
COUNTRIES = sorted({row.country for row in FACTORS.rows})


@pytest.mark.parametrize("country", [*COUNTRIES, "ZZ"])
def test_cars_as_they_are_give_the_factor_of_the_release(country):
    cars = Cars.of(country, FACTORS)
    released = FACTORS.factor("driving", country).grams_per_km
    assert cars.grams_per_km(Scenario()) == pytest.approx(released)
    same = Scenario(electric=cars.electric_share, occupancy=cars.occupancy)
    assert ratio("driving", country, same, FACTORS) == pytest.approx(1)


def test_one_figure_for_all_cars_does_not_say_how_many_are_electric():
    assert not Cars.of("US", FACTORS).is_share_known
    assert Cars.of("DE", FACTORS).is_share_known
    assert Cars.of(AVERAGE, FACTORS).is_share_known


def test_twice_as_many_in_a_car_emit_half_each():
    cars = Cars.of("FR", FACTORS)
    fuller = Scenario(occupancy=2 * cars.occupancy)
    assert ratio("driving", "FR", fuller, FACTORS) == pytest.approx(0.5)


def test_all_electric_is_what_generating_their_electricity_emits():
    cars = Cars.of("DE", FACTORS)
    grams = cars.grams_per_km(Scenario(electric=1.0))
    assert grams == pytest.approx(47 / 1.42)


def test_more_electric_is_always_less():
    for country in COUNTRIES:
        shares = [ratio("driving", country, Scenario(electric=n / 10), FACTORS) for n in range(11)]
        assert shares == sorted(shares, reverse=True), country


def test_nothing_but_cars_changes():
    scenario = Scenario(electric=1.0, occupancy=4.0)
    for activity in ("walking", "bus", "train", "flying"):
        assert ratio(activity, AVERAGE, scenario, FACTORS) == 1
