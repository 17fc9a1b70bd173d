"""Conditions: a task's own, and those that every wake-up needs."""

from __future__ import annotations

import pytest

from devices_sim.device.conditions import Conditions


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        ((), True),
        (("idle",), True),
        (("idle", "charging"), False),
        (("charging",), False),
        # Not a task's to ask for, or nothing this phone knows.
        (("network",), False),
        (("battery_percent",), False),
        (("folded",), False),
    ],
)
def test_a_condition_holds_if_it_is_known_and_true(wanted: tuple[str, ...], holds: bool) -> None:
    assert Conditions(idle=True, charging=False).meet(wanted) is holds


@pytest.mark.parametrize(("percent", "enough"), [(29, False), (30, True), (31, True)])
def test_30_percent_of_battery_are_enough(percent: int, enough: bool) -> None:
    assert (not Conditions(battery_percent=percent).missing) is enough
