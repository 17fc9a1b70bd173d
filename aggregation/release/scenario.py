"""What if cars were fuller, or more of them electric? Released emissions, times other factors.

A scenario, not a measurement: it multiplies a released number by (factor of the scenario / factor
of the release). It reads public factors and noised numbers only, so it costs no ε.
"""

from __future__ import annotations

from dataclasses import dataclass

from aggregation.release.emission_factors import AVERAGE, FactorTable

DRIVING = "driving"
_ELECTRIC = "electric"


@dataclass(frozen=True)
class Scenario:
    """Nothing where it stays as it is."""

    # Share of cars that are electric, 0 to 1.
    electric: float | None = None
    # Persons in a car.
    occupancy: float | None = None

    @property
    def is_as_it_is(self) -> bool:
        return self.electric is None and self.occupancy is None


@dataclass(frozen=True)
class Cars:
    """What a country's kilometre by car is made of, in grams of a car and persons in it."""

    electric_share: float
    # Not where there is one figure for all cars: then the share counts as 0.
    is_share_known: bool
    electric_grams: float
    # Mean of all other cars.
    other_grams: float
    occupancy: float

    @classmethod
    def of(cls, country: str, factors: FactorTable) -> Cars:
        """A country that has only one figure for all cars counts as if none were electric."""
        occupancy = _value(factors, "occupancy", country)
        electric = _value(factors, "per_vehicle", country, _ELECTRIC)
        factor = factors.factor(DRIVING, country)
        shares = [row for row in factor.rows if row.quantity == "fleet_share"]
        share = sum(r.value for r in shares if r.fuel == _ELECTRIC) / (
            sum(row.value for row in shares) or 1.0
        )
        mean = factor.grams_per_km * occupancy
        return cls(
            electric_share=share,
            is_share_known=any(row.fuel == _ELECTRIC for row in shares),
            electric_grams=electric,
            other_grams=(mean - share * electric) / (1 - share),
            occupancy=occupancy,
        )

    def grams_per_km(self, scenario: Scenario) -> float:
        share = self.electric_share if scenario.electric is None else scenario.electric
        persons = scenario.occupancy or self.occupancy
        return ((1 - share) * self.other_grams + share * self.electric_grams) / persons


def ratio(activity: str, country: str, scenario: Scenario, factors: FactorTable) -> float:
    """What released emissions are multiplied by; 1 for everything but cars."""
    if activity != DRIVING or scenario.is_as_it_is:
        return 1.0
    return (
        Cars.of(country, factors).grams_per_km(scenario)
        / factors.factor(DRIVING, country).grams_per_km
    )


def _value(factors: FactorTable, quantity: str, country: str, fuel: str = "") -> float:
    rows = [
        r for r in factors.rows if (r.quantity, r.activity, r.fuel) == (quantity, DRIVING, fuel)
    ]
    own = [row for row in rows if row.country == country]
    return (own or [row for row in rows if row.country == AVERAGE])[0].value
