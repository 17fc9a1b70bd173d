"""Facts: what a phone tells a task's criteria about itself, and nothing else."""

from __future__ import annotations

import pytest

from aggregation.ondevice.events import Event
from aggregation.protocol.device_facts import DeviceFacts
from aggregation.protocol.windows import Unit, Window
from devices_sim.device.facts import facts
from devices_sim.device.state import Progress, State

DAY = 86_400
DAYS = [Window.parse(f"2026-11-{day}", Unit.DAY) for day in (10, 11, 13)]


def facts_of(state: State, *, now: float = 0.0) -> DeviceFacts:
    return facts(state, "daily", DAYS, ("trips",), now=now)


def test_it_works() -> None:
    assert facts_of(State(1, started=0.0), now=10 * DAY) == DeviceFacts(
        windows_waiting=3,
        events_waiting=0,
        windows_since_contribution=None,
        runtime_version=1,
        install_age_days=10,
    )


@pytest.mark.parametrize(
    ("now", "days"), [(DAY - 1, 0), (DAY, 1), (400 * DAY, 400), (-1, 0), (-DAY * 9, 0)]
)
def test_the_age_is_in_whole_days_and_never_below_zero(now: float, days: int) -> None:
    assert facts_of(State(1, started=0.0), now=now).install_age_days == days


def test_events_wait_only_in_streams_that_are_read_and_windows_that_wait() -> None:
    state = State(1, started=0.0)
    inside = Event(DAYS[1].start.timestamp(), 0, ())
    between = Event(DAYS[1].end.timestamp(), 0, ())
    state.events = {"assistant": [inside], "trips": [between]}
    assert facts_of(state).events_waiting == 0
    state.events["trips"].append(inside)
    assert facts_of(state).events_waiting == 1


def test_the_distance_is_that_of_the_newest_waiting_window() -> None:
    state = State(1, started=0.0)
    state.tasks["daily"] = Progress(Unit.DAY, high="2026-11-09", counted="2026-11-09")
    assert facts_of(state).windows_since_contribution == 4
