"""Habits of a week: how the scenario and its holidays change what people usually do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from devices_sim.fleet.people import NAMES
from devices_sim.fleet.places import Places
from devices_sim.fleet.scenario import Habits, Scenario
from devices_sim.fleet.trips import Factors


def factors_of(scenario: Scenario, week: int, places: Places, home: NDArray[np.int64]) -> Factors:
    """For each person: the scenario's habits, or in a holiday of their country the holiday's."""
    commuting, far = np.ones(len(home)), np.full(len(home), scenario.habits.far)
    leisure = np.tile(_by_activity(scenario.habits), (len(home), 1))
    for holiday in scenario.holidays:
        if week in holiday.weeks:
            there = _lives_in(holiday.countries, places, home)
            commuting[there] = holiday.habits.commuting
            far[there] = holiday.habits.far
            leisure[there] = _by_activity(holiday.habits)
    return Factors(commuting, far, leisure)


def _lives_in(
    countries: tuple[str, ...], places: Places, home: NDArray[np.int64]
) -> NDArray[np.bool_]:
    if not countries:
        return np.ones(len(home), dtype=bool)
    ranks = [rank for rank, code in enumerate(places.codes) if code in countries]
    return np.isin(places.country[home], ranks)


def _by_activity(habits: Habits) -> NDArray[np.float64]:
    return np.array([habits.leisure.get(name, 1.0) for name in NAMES])
