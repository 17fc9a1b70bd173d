"""The demo's phones: which process runs them, when its clock starts, and what is no scenario."""

from datetime import UTC, datetime, timedelta

import pytest

from aggregation.clock import SimulatedClock
from aggregation.errors import Problem
from aggregation.protocol.windows import Unit, Window
from portal.clock import start_demo_clock
from portal.management.commands.up import banner
from portal.supervisor import preflight, system


def test_a_scenario_is_a_process_of_its_own(settings):
    settings.SCENARIO = "demo"
    fleet = next(child for child in system.children() if child.name == "fleet")
    assert fleet.command[-3:] == ["fleet", "--scenario", "demo"]


def test_none_starts_none(settings):
    settings.SCENARIO = "none"
    assert "fleet" not in [child.name for child in system.children()]
    assert "first release" not in banner()


def test_a_scenario_that_is_not_there_is_told(settings):
    preflight.check_scenario("demo")
    preflight.check_scenario("none")
    with pytest.raises(Problem, match=r"'demoo', and there is no such scenario\. There are .*demo"):
        preflight.check_scenario("demoo")


def test_the_clock_starts_once_an_hour_before_a_week(settings, tmp_path):
    settings.CLOCK_FILE, settings.CLOCK, settings.SCENARIO = (
        tmp_path / "clock.json",
        "simulated",
        "demo",
    )
    start_demo_clock()
    clock = SimulatedClock(settings.CLOCK_FILE)
    now = clock.now()
    assert clock.is_new
    assert "first release" in banner()
    assert Window.containing(now + timedelta(hours=1), Unit.WEEK).start == now + timedelta(hours=1)
    assert now < datetime.now(UTC)
    clock.set_speed(60)
    start_demo_clock()
    assert clock.speed == 60
    assert not clock.is_new
    assert "first release" not in banner()


def test_without_phones_no_clock_is_started(settings, tmp_path):
    settings.CLOCK_FILE, settings.CLOCK = tmp_path / "clock.json", "simulated"
    settings.SCENARIO = "none"
    start_demo_clock()
    assert not settings.CLOCK_FILE.exists()
