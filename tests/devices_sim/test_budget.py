"""The phone's own ledger: whole hundredths, per stream and week, never above the cap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.protocol.windows import Unit, Window
from devices_sim.device.budget import (
    KEPT_WEEKS,
    WEEKLY_CAP,
    charge,
    in_words,
    mondays,
    price,
    unaffordable,
)
from devices_sim.device.refusal import Refused
from devices_sim.device.state import Budget

WEEK = Window.parse("2026-11-09", Unit.WEEK)
START = Window.parse("2026-11-09", Unit.DAY)


@pytest.mark.parametrize(
    ("epsilon", "hundredths"), [("2", 200), ("0.5", 50), ("0.01", 1), ("8", 800), ("1.25", 125)]
)
def test_a_price_is_whole(epsilon: str, hundredths: int) -> None:
    assert price(epsilon) == hundredths


@pytest.mark.parametrize(
    "epsilon",
    ["0", "-1", "8.01", "0.001", "1e2", "1e999999", "NaN", "Infinity", "", " 2", "2 ", "٢", "1_0"],
)
def test_another_price_is_refused(epsilon: str) -> None:
    with pytest.raises(Refused, match="this phone takes"):
        price(epsilon)


def test_a_window_costs_each_week_it_overlaps() -> None:
    month = Window.parse("2026-11-01", Unit.MONTH)
    assert mondays(month) == (
        "2026-10-26", "2026-11-02", "2026-11-09", "2026-11-16", "2026-11-23", "2026-11-30",
    )  # fmt: skip
    assert mondays(WEEK) == ("2026-11-09",)
    budget = Budget()
    charge(budget, ["trips", "assistant"], month, 50)
    assert budget.weeks["2026-11-30"] == {"trips": 50, "assistant": 50}
    assert unaffordable(budget, ["trips"], [WEEK], 350) == {}
    assert unaffordable(budget, ["trips"], [WEEK], 351)[WEEK] == (
        "2026-11-09: it would cost trips ε 3.51 in the week of 2026-11-09; 3.5 of 4 is left."
    )


def test_windows_of_one_update_add_up() -> None:
    days = [START]
    for _ in range(6):
        days.append(days[-1].next())
    refused = unaffordable(Budget(), ["trips"], days, 100)
    assert list(refused) == days[4:]


Charges = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 800), st.booleans()), max_size=200)


@given(Charges)
def test_no_week_goes_above_the_cap_even_when_weeks_are_forgotten(
    charges: list[tuple[int, int, bool]],
) -> None:
    """Against a ledger that forgets nothing."""
    budget, all_weeks = Budget(), dict[str, int]()
    for hours, cost, is_day in charges:
        window = Window.containing(
            START.start.replace(month=1) + hours * (START.end - START.start),
            Unit.DAY if is_day else Unit.MONTH,
        )
        if not unaffordable(budget, ["trips"], [window], cost):
            charge(budget, ["trips"], window, cost)
            for monday in mondays(window):
                all_weeks[monday] = all_weeks.get(monday, 0) + cost
        assert len(budget.weeks) <= KEPT_WEEKS
    assert all(spent <= WEEKLY_CAP for spent in all_weeks.values())


def test_weeks_before_those_kept_are_closed() -> None:
    budget, window = Budget(), WEEK
    for _ in range(KEPT_WEEKS + 1):
        charge(budget, ["trips"], window, 1)
        window = window.next()
    why = unaffordable(budget, ["trips"], [WEEK], 1)[WEEK]
    assert why == "2026-11-09: the week of 2026-11-09 is closed on this phone."
    assert unaffordable(budget, ["trips"], [WEEK.next()], 1) == {}


@pytest.mark.parametrize(("hundredths", "words"), [(150, "1.5"), (400, "4"), (1, "0.01"), (0, "0")])
def test_epsilon_in_words(hundredths: int, words: str) -> None:
    assert in_words(hundredths) == words
