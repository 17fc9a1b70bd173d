"""Emissions of a release: by activity and place, the factors behind them, and scenarios."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from aggregation.errors import Problem
from aggregation.release.emission_factors import AVERAGE, Factor, factor_table
from aggregation.release.emissions import ACTIVITY, COLUMN
from aggregation.release.scenario import DRIVING, Cars, Scenario, ratio
from portal.releases.browsing.charting import Chart, chart_of
from portal.releases.browsing.choosing import View
from portal.releases.browsing.history import Viewer, rendered
from portal.releases.browsing.measuring import scaled
from portal.releases.browsing.tables import Tables, pick
from portal.releases.charts import Group, Mark, histogram
from portal.releases.models import Release
from portal.releases.reading import Number

PLACES = 12
# What a slider may say.
ELECTRIC = (0, 100)
OCCUPANCY = (1.0, 4.0)


def tasks_with_emissions(viewer: Viewer) -> list[str]:
    """The one released last first."""
    rows = rendered(viewer).filter(window__revision__server_config_json__contains='"emissions"')
    names = rows.order_by("-window__start", "-pk").values_list("window__task__name", flat=True)
    return list(dict.fromkeys(names))


def parse_scenario(asked: Mapping[str, str]) -> Scenario:
    electric = _number(asked.get("electric", ""), *ELECTRIC, "The share of electric cars")
    persons = _number(asked.get("occupancy", ""), *OCCUPANCY, "The number of persons in a car")
    return Scenario(electric=None if electric is None else electric / 100, occupancy=persons)


@dataclass(frozen=True)
class FactorLine:
    activity: str
    factor: Factor
    # `The country's own`, or `an average`.
    is_average: bool


@dataclass(frozen=True)
class Outcome:
    """One activity as released, and in the scenario."""

    activity: str
    released: Number
    scenario: Number
    suppressed: str


@dataclass(frozen=True)
class Emissions:
    """A release's emissions in all, or those of one country."""

    release: Release
    tables: Tables
    # A code; empty for all.
    country: str

    @property
    def where(self) -> dict[str, str]:
        return {self.tables.country_key: self.country} if self.country else {}

    @cached_property
    def by_activity(self) -> Chart:
        view = View(metric=COLUMN, by=ACTIVITY, where=self.where)
        return chart_of(view, self.tables)

    @cached_property
    def by_place(self) -> Chart | None:
        key = self.tables.region_key or (self.tables.country_key if not self.country else "")
        if not key:
            return None
        return chart_of(View(metric=COLUMN, by=key, where=self.where, top=PLACES), self.tables)

    @property
    def factors(self) -> list[FactorLine]:
        """Grams a kilometre, of the country or of the average one, the largest first."""
        table, country = factor_table(), self.country or AVERAGE
        found = [table.factor(activity, country) for activity in self.activities]
        lines = [
            FactorLine(activity, factor, factor.is_average)
            for activity, factor in zip(self.activities, found, strict=True)
        ]
        return sorted(lines, key=lambda line: -line.factor.grams_per_km)

    @property
    def activities(self) -> list[str]:
        return list(self.tables.domain(ACTIVITY))

    @property
    def cars(self) -> Cars:
        return Cars.of(self.country or AVERAGE, factor_table())

    def outcomes(self, scenario: Scenario) -> list[Outcome]:
        """Activities that emit; only cars change."""
        found = []
        held = {key: [value] for key, value in self.where.items()}
        layout, rows = self.tables.rows([ACTIVITY, *held], COLUMN, where=held)
        at = layout.keys.index(ACTIVITY)
        for row in rows:
            activity, number = str(row.keys[at]), pick(layout, row, COLUMN)
            if number.value == 0:
                continue
            changed = self._driven(number, scenario) if activity == DRIVING else number
            found.append(Outcome(activity, number, changed, row.suppressed))
        return sorted(found, key=lambda one: -(one.released.value or 0.0))

    def total(self, scenario: Scenario) -> tuple[Number, Number]:
        """In all, as released and in the scenario."""
        found = self.tables.one(COLUMN, **self.where)
        if found is None or found.number.value is None:
            raise Problem("The emissions in all are not shown: the noise would drown them.")
        cars = next((o for o in self.outcomes(scenario) if o.activity == DRIVING), None)
        if cars is None or cars.released.value is None or cars.scenario.value is None:
            return found.number, found.number
        moved = cars.scenario.value - cars.released.value
        width = math.hypot(
            found.number.half_width or 0.0,
            abs(moved / cars.released.value) * (cars.released.half_width or 0.0),
        )
        other = Number(
            COLUMN, found.number.value + moved, width, None, None, None, found.number.notes
        )
        return found.number, other

    def svg(self, scenario: Scenario, *, width: int = 720) -> str:
        outcomes = self.outcomes(scenario)
        groups = [
            Group(
                one.activity,
                (
                    Mark(one.released.value, one.released.half_width, note=one.suppressed),
                    Mark(one.scenario.value, one.scenario.half_width, note=one.suppressed),
                ),
            )
            for one in outcomes
        ]
        title = "Emissions by activity, as released and in the scenario"
        return histogram(groups, ["released", "scenario"], title=title, unit="kg CO₂e", width=width)

    def _driven(self, number: Number, scenario: Scenario) -> Number:
        """Cars of each country change by its own ratio; of those not shown, by the average one."""
        table = factor_table()
        if self.country or not self.tables.country_key:
            return scaled(number, ratio(DRIVING, self.country or AVERAGE, scenario, table))
        if number.value is None:
            return number
        key = self.tables.country_key
        layout, rows = self.tables.rows(
            [key, ACTIVITY], COLUMN, where={ACTIVITY: [DRIVING]}, shown_only=True
        )
        at, moved, rest = layout.keys.index(key), 0.0, number.value
        for row in rows:
            value = pick(layout, row, COLUMN).value or 0.0
            moved += value * ratio(DRIVING, str(row.keys[at]), scenario, table)
            rest -= value
        whole = moved + rest * ratio(DRIVING, AVERAGE, scenario, table)
        return scaled(number, whole / number.value) if number.value else number


def _number(text: str, low: float, high: float, what: str) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise Problem(f"{what} lies between {low:g} and {high:g}, not {text[:20]!r}.")
    return value
