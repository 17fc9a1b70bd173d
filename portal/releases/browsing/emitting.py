"""Emissions of a release: by activity and place, the factors behind them, and scenarios."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from django.db.models import QuerySet

from aggregation.errors import Problem
from aggregation.release.emission_factors import AVERAGE, Factor, factor_table
from aggregation.release.emissions import ACTIVITY, COLUMN
from aggregation.release.scenario import DRIVING, Cars, Scenario, ratio
from portal.charts import Group, Mark, fitted, histogram
from portal.releases.browsing.charting import WIDE, Chart, chart_of
from portal.releases.browsing.choosing import View
from portal.releases.browsing.hiding import Hidden
from portal.releases.browsing.history import Viewer, rendered
from portal.releases.browsing.measuring import each_scaled, is_nothing, scaled, with_part_changed
from portal.releases.browsing.placing import Subject
from portal.releases.browsing.tables import Tables, pick
from portal.releases.models import Release
from portal.releases.reading import Number

PLACES = 12
# As a config is written.
_ASKED_FOR = '"post_processing":"emissions"'
# What a slider may say, and to how many places.
ELECTRIC = (0, 100)
OCCUPANCY = (1.0, 4.0)
_ELECTRIC_PLACES, _OCCUPANCY_PLACES = 1, 2


def tasks_with_emissions(viewer: Viewer) -> list[str]:
    """The one released last first."""
    names = _with_emissions(viewer).values_list("window__task__name", flat=True)
    return list(dict.fromkeys(names))


def latest_with_emissions(viewer: Viewer, task: str) -> Release | None:
    """The newest one of a task that has them: not every revision need do."""
    return _with_emissions(viewer).filter(window__task__name=task).first()


def _with_emissions(viewer: Viewer) -> QuerySet[Release]:
    """Those whose config asks for them; a column may be called so in any task."""
    rows = rendered(viewer).filter(window__revision__server_config_json__contains=_ASKED_FOR)
    return rows.order_by("-window__start", "-pk")


def parse_scenario(asked: Mapping[str, str], cars: Cars) -> Scenario:
    """What sliders say that stand elsewhere than these cars put them.

    A form sends both. One that nobody moved asks for nothing: the average country's cars would be
    put in the place of every country's own.
    """
    percent = _number(asked.get("electric", ""), *ELECTRIC, "The share of electric cars")
    persons = _number(asked.get("occupancy", ""), *OCCUPANCY, "The number of persons in a car")
    percent = _moved(percent, 100 * cars.electric_share, _ELECTRIC_PLACES)
    return Scenario(
        electric=None if percent is None else percent / 100,
        occupancy=_moved(persons, cars.occupancy, _OCCUPANCY_PLACES),
    )


def _moved(value: float | None, own: float, places: int) -> float | None:
    is_own = value is not None and round(value, places) == round(own, places)
    return None if is_own else value


@dataclass(frozen=True)
class FactorLine:
    activity: str
    factor: Factor
    # `The country's own`, or `an average`.
    is_average: bool


@dataclass(frozen=True)
class Outcome:
    """One activity as released, and in the scenario."""

    # Empty for all together.
    activity: str
    released: Number
    scenario: Number
    suppressed: str


@dataclass(frozen=True)
class Emissions:
    """A release's emissions in all, or those of one country or place."""

    release: Release
    tables: Tables
    subject: Subject | None

    @property
    def where(self) -> dict[str, str]:
        return {self.subject.key(self.tables): self.subject.value} if self.subject else {}

    @property
    def country(self) -> str:
        """Its code; empty for all."""
        return self.subject.country if self.subject else ""

    @cached_property
    def by_activity(self) -> Chart:
        """Those that emit: a bar of nothing would say nothing."""
        chart = self._every_activity
        kept = [
            (value, label, lines)
            for value, label, lines in zip(chart.values, chart.labels, chart.lines, strict=True)
            if not is_nothing(lines[0].number)
        ]
        values, labels, lines = zip(*kept, strict=True) if kept else ((), (), ())
        return replace(chart, values=values, labels=labels, lines=lines)

    @property
    def shown_activities(self) -> list[str]:
        chart = self.by_activity
        pairs = zip(chart.values, chart.lines, strict=True)
        return [value for value, lines in pairs if lines[0].number.value is not None]

    @property
    def emitting_nothing(self) -> list[str]:
        """Activities whose factor is zero."""
        chart = self._every_activity
        pairs = zip(chart.labels, chart.lines, strict=True)
        return [label for label, lines in pairs if is_nothing(lines[0].number)]

    @cached_property
    def _every_activity(self) -> Chart:
        view = View(metric=COLUMN, by=ACTIVITY, where=self.where)
        return chart_of(view, self.tables)

    @cached_property
    def by_place(self) -> Chart | None:
        """Where most is emitted; of a country, its places. A place has none inside."""
        key = self.tables.region_key or (self.tables.country_key if not self.subject else "")
        if not key or (self.subject and self.subject.region):
            return None
        view = View(metric=COLUMN, by=key, where=self.where, top=PLACES)
        chart = chart_of(view, self.tables)
        if not chart.is_empty:
            return chart
        # Cars alone, where noise drowns the sum over all activities.
        return chart_of(view.but(where={**view.where, ACTIVITY: DRIVING}), self.tables)

    @property
    def shown_places(self) -> list[tuple[str, str]]:
        """Those of that chart that have a number: the name of each, and its value."""
        chart = self.by_place
        if chart is None:
            return []
        rows = zip(chart.labels, chart.values, chart.lines, strict=True)
        return [(name, value) for name, value, lines in rows if lines[0].number.value is not None]

    @property
    def of_places(self) -> list[tuple[str, dict[str, str]]]:
        """The first of them: the name of each, and what to ask for."""
        chart = self.by_place
        if chart is None:
            return []
        where = chart.view.where
        return [(name, {chart.view.by: one, **where}) for name, one in self.shown_places[:3]]

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
            if is_nothing(number):
                continue
            changed = self._driven(number, scenario) if activity == DRIVING else number
            found.append(Outcome(activity, number, changed, row.suppressed))
        return sorted(found, key=lambda one: -(one.released.value or 0.0))

    def total(self, scenario: Scenario) -> Outcome | None:
        """As released and in the scenario: in all, or of cars alone where that is not shown."""
        found = self.tables.one(COLUMN, self.where)
        cars = next((o for o in self.outcomes(scenario) if o.activity == DRIVING), None)
        if cars is None or cars.released.value is None:
            return None
        if found is None or found.number.value is None:
            return cars
        changed = with_part_changed(found.number, cars.released, cars.scenario)
        return Outcome("", found.number, changed, "")

    def figure(self, scenario: Scenario) -> str:
        return fitted(lambda width: self._svg(scenario, width), wide=WIDE)

    def hidden(self) -> Hidden:
        """Activities that the figure leaves out."""
        outcomes = self.outcomes(Scenario())
        return Hidden.of((o.activity, o.suppressed) for o in outcomes if o.released.value is None)

    def _svg(self, scenario: Scenario, width: int) -> str:
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
        return histogram(
            groups,
            ["released", "scenario"],
            title=title,
            unit="kg CO₂e",
            width=width,
            heading=False,
            folded=True,
        )

    def _driven(self, number: Number, scenario: Scenario) -> Number:
        """Cars of each country change by its own ratio; of those not shown, by the average one."""
        table = factor_table()
        if self.subject or not self.tables.country_key:
            return scaled(number, ratio(DRIVING, self.country or AVERAGE, scenario, table))
        key = self.tables.country_key
        layout, rows = self.tables.rows(
            [key, ACTIVITY], COLUMN, where={ACTIVITY: [DRIVING]}, shown_only=True
        )
        at = layout.keys.index(key)
        own = [
            (pick(layout, row, COLUMN), ratio(DRIVING, str(row.keys[at]), scenario, table))
            for row in rows
        ]
        return each_scaled(number, own, ratio(DRIVING, AVERAGE, scenario, table))


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
