"""The version ladder: each step changes a mechanism, and reach follows from it."""

from dataclasses import replace

import numpy as np
import pytest

from aggregation.errors import Problem
from devices_sim.fleet.ladder import VERSIONS, Assumed, Cancelled, room_an_hour, run_week
from devices_sim.fleet.ladder_phones import Rates, phones, wake_ups
from devices_sim.fleet.ladder_study import PAPER_REACH, ladder, lines
from devices_sim.fleet.reach import Beta

# Near what is fitted; the fit itself is tested by `test_the_ladder_of_the_paper`.
RATES = Rates(Beta(0.77, 0.86), Beta(0.455, 0.55))
STRICT, IDLE, SQLITE, FAST, WHOLE = VERSIONS


def week(version, *, count=20_000, seed=3, rates=RATES, **assumed):
    assumed = replace(Assumed(), **assumed)
    fleet = phones(rates, count, seed)
    moments = wake_ups(fleet, seed, mean_seconds=assumed.wake_up_seconds)
    return run_week(version, fleet, moments, assumed)


def test_the_ladder_of_the_paper():
    found = ladder(20_000, 1)
    reach = {rung.version: rung.reach for rung in found.rungs}
    # Fitted: within the noise of 20,000 phones (a standard deviation is 0.4 %) and of the fit.
    assert reach["0.1"] == pytest.approx(49.4, abs=2)
    assert reach["0.1 idle"] == pytest.approx(76.4, abs=2)
    # Predicted, and told as it is: 0.2 is too high by more than three.
    assert list(reach.values()) == sorted(reach.values())
    assert reach["0.3"] == pytest.approx(PAPER_REACH["0.3"], abs=2)
    assert reach["1.0"] == pytest.approx(PAPER_REACH["1.0"], abs=2)
    assert reach["0.2"] - PAPER_REACH["0.2"] == pytest.approx(3.5, abs=2)
    increases = [rung.error_increase for rung in found.rungs]
    assert increases == sorted(increases, reverse=True)
    assert increases[-1] == 0
    assert len(list(lines(found.plain()["rungs"]))) == 6


def test_the_same_seed_is_the_same_week():
    assert np.array_equal(week(SQLITE).reached, week(SQLITE).reached)
    assert not np.array_equal(week(SQLITE).reached, week(SQLITE, seed=4).reached)


def test_wi_fi_and_charging_cost_reach():
    assert week(STRICT).reach < week(IDLE).reach - 0.2


def test_a_heavy_engine_is_cut_off_by_short_wake_ups():
    heavy, light = week(IDLE), week(SQLITE)
    assert heavy.unfinished > 5 * light.unfinished
    assert heavy.reach < light.reach
    assert week(IDLE, heavy_seconds=0.0).reach == light.reach


def test_a_slow_sum_turns_phones_away():
    slow, fast = week(SQLITE), week(FAST)
    assert slow.turned_away > 3 * fast.turned_away
    assert slow.reach < fast.reach
    alike = {"slow_update_seconds": 0.0003}
    assert week(SQLITE, **alike).reach == week(FAST, **alike).reach
    assert room_an_hour(SQLITE, 168_000, Assumed()) == 4000


def test_tasks_compete_for_one_check_in():
    assert week(FAST, tasks=4).reach < week(WHOLE, tasks=4).reach
    alone = {"tasks": 1, "servers_for_load": 100.0}
    assert week(FAST, **alone).reach == week(WHOLE, **alone).reach


def test_nobody_is_reached_without_room_or_time():
    assert week(WHOLE, light_p95_seconds=1e6).reach == 0
    assert week(WHOLE, servers_for_load=0.0).reach < 0.02


def test_it_stops_when_asked_to():
    fleet = phones(RATES, 1000, 1)
    moments = wake_ups(fleet, 1, mean_seconds=60.0)
    with pytest.raises(Cancelled):
        run_week(WHOLE, fleet, moments, Assumed(), lambda: True)


def test_it_refuses_a_handful_of_phones():
    with pytest.raises(Problem, match="20000 to 2000000 phones, not 10"):
        ladder(10, 1)
