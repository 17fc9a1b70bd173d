"""Reach: the model has the figures it was fitted to, and phones have the model's."""

import numpy as np
import pytest

from devices_sim.fleet.reach import (
    ALL,
    ALL_THREE,
    ELSEWHERE,
    IDLE,
    PAPER,
    Beta,
    Reach,
    all_countries,
    law_of,
    lines,
    modelled,
    reach_of,
)
from tests.devices_sim.fleet.small_world import MONDAY, SECONDS, world

DAY = 86_400


@pytest.mark.parametrize("conditions", PAPER)
def test_the_fitted_figures_are_the_papers(conditions):
    model = modelled()[conditions]
    assert model[ALL].daily == pytest.approx(PAPER[conditions][ALL].daily, abs=1e-4)
    for where, paper in PAPER[conditions].items():
        assert model[where].weekly == pytest.approx(paper.weekly, abs=1e-4)


@pytest.mark.parametrize("conditions", PAPER)
def test_the_predicted_figures_are_near_the_papers(conditions):
    """Not fitted: each country's daily reach, given its weekly one. 5 points is what we claim."""
    for where in ("US", "IN", "FI"):
        predicted = modelled()[conditions][where].daily
        assert predicted == pytest.approx(PAPER[conditions][where].daily, abs=0.05)


def test_one_chance_for_all_phones_cannot_give_both_figures():
    alike = Beta(mean=PAPER[IDLE][ALL].daily, likeness=1e6)
    assert reach_of(alike).weekly > 0.97


def test_countries_without_a_row_share_a_law():
    assert law_of("DE") == law_of("BR") == law_of(ELSEWHERE) != law_of("IN")


def measured(made, phones):
    """Weekly and daily reach of these phones in week 0, from the moments they really have."""
    reached = {IDLE: np.zeros((len(phones), 7), bool), ALL_THREE: np.zeros((len(phones), 7), bool)}
    for row, phone in enumerate(phones):
        for time, has in made.wake_ups(phone, MONDAY, MONDAY + SECONDS):
            day = int((time - MONDAY) // DAY)
            reached[IDLE][row, day] |= has.meet(["idle"]) and not has.missing
            wanted = ["idle", "unmetered", "charging"]
            reached[ALL_THREE][row, day] |= has.meet(wanted) and not has.missing
    return {name: Reach(days.any(axis=1).mean(), days.mean()) for name, days in reached.items()}


def test_phones_reach_what_the_model_says(size):
    """4 standard errors at most, 16 figures: 0.1 % of fresh seeds would fail."""
    made = world("demo", phones=6_000 if size == "everyday" else 60_000, most_wake_ups=0)
    phones_of = {where: [] for where in ("US", "IN", "FI", ELSEWHERE)}
    for phone in range(made.phones):
        if not made.unusual(phone).offline:
            country = made.population(phone)
            phones_of[country if country in phones_of else ELSEWHERE].append(phone)
    for where, phones in phones_of.items():
        found = measured(made, phones)
        for conditions, model in modelled().items():
            error = 4 * (0.25 / len(phones)) ** 0.5
            assert found[conditions].weekly == pytest.approx(model[where].weekly, abs=error)
            assert found[conditions].daily == pytest.approx(model[where].daily, abs=error)


def test_the_table_says_what_is_fitted_and_what_is_predicted():
    by_country = {where: Reach(0.5, 0.25) for where in ("US", "IN", "FI", ELSEWHERE)}
    fleet = {name: {ALL: all_countries(by_country), **by_country} for name in PAPER}
    told = list(lines(fleet))
    assert len(told) == 1 + 2 * 4 * 2
    assert sum("predicted" in line for line in told) == 6
    assert told[0].split() == ["conditions", "where", "paper", "model", "fleet"]
    assert all(line.endswith(("50.0 %", "25.0 %")) for line in told[1:])
