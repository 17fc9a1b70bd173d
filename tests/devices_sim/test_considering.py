"""Considering an offer: what is refused, and when a phone sits out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from aggregation.protocol.client_task import Eligibility, Schedule
from aggregation.protocol.messages import Offer
from aggregation.protocol.windows import Unit, Window
from devices_sim.device.conditions import Conditions
from devices_sim.device.considering import MAX_LISTED, Candidate, SitsOut, consider, merged
from devices_sim.device.refusal import Refused
from devices_sim.device.state import Progress, State

SHA = "a" * 64
FIRST = Window.parse("2026-11-09T00", Unit.HOUR)
NOW = (FIRST.start + timedelta(days=60)).timestamp()
TODAY = "2027-01-08"


def hours(count: int) -> tuple[str, ...]:
    windows = [FIRST]
    while len(windows) < count:
        windows.append(windows[-1].next())
    return tuple(window.id for window in windows)


def offer(**changes: Any) -> Offer:
    said: dict[str, Any] = {
        "task": "hourly",
        "client_task": SHA,
        "window_unit": Unit.HOUR,
        "windows": hours(3),
        "eligibility": Eligibility(min_separation_windows=1, require_events=False),
        "schedule": Schedule(max_runs_per_day=2, conditions=()),
    }
    return Offer(**{**said, **changes})


def considered(state: State, offered: Offer) -> Candidate | SitsOut:
    return consider(state, offered, ("trips",), Conditions(), now=NOW)


def ran(times: int, *, day: str = TODAY, again: tuple[str, ...] = ()) -> State:
    progress = Progress(Unit.HOUR, high=FIRST.id, day=day, runs=times)
    progress.again = dict.fromkeys(again, SHA)
    return State(1, started=0.0, tasks={"hourly": progress})


def test_it_works() -> None:
    found = considered(State(1, started=0.0), offer())
    assert isinstance(found, Candidate)
    assert [window.id for window in found.windows] == list(hours(3))


def test_a_list_longer_than_any_grace_is_refused() -> None:
    state = State(1, started=0.0)
    assert isinstance(considered(state, offer(windows=hours(MAX_LISTED))), Candidate)
    with pytest.raises(Refused, match="not one of hours"):
        considered(state, offer(windows=hours(MAX_LISTED + 1)))
    with pytest.raises(Refused, match="not one of hours"):
        considered(state, offer(windows=hours(1) * (MAX_LISTED + 1)))


def test_a_task_never_changes_its_unit() -> None:
    days = {"window_unit": Unit.DAY, "windows": ("2026-11-09",)}
    with pytest.raises(Refused, match="It had windows by the hour"):
        considered(ran(0), offer(**days))


@pytest.mark.parametrize(
    ("state", "runs"),
    [
        (ran(1), True),
        (ran(2), False),
        (ran(2, day="2027-01-07"), True),
        # All of them were run before, or only some.
        (ran(2, again=hours(3)), True),
        (ran(2, again=hours(2)), False),
    ],
)
def test_runs_are_counted_by_the_day(state: State, runs: bool) -> None:
    assert isinstance(considered(state, offer()), Candidate) is runs


def test_two_offers_of_one_task_have_the_windows_of_both() -> None:
    first, second = offer(windows=hours(3)[:2]), offer(windows=hours(3)[1:])
    assert merged([first, second]).windows == hours(3)
