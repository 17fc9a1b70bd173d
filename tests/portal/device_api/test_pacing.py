"""Pacing: hints leave no herd, skip empty days and never make a device miss a window."""

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from aggregation.protocol.messages import NextCheckIn
from aggregation.protocol.windows import Unit
from portal.device_api.pacing import DAY, HOUR, next_check_in, retry_after, turned_away_seconds

units = st.frozensets(st.sampled_from(Unit))
due = st.none() | st.floats(0, 400 * DAY)
open_for = st.none() | st.floats(HOUR, 30 * DAY)
busy = st.floats(0, 1)


def hint(units: frozenset[Unit], due: float | None, open_for: float | None, busy: float):
    return next_check_in(
        open_units=units, next_due_seconds=due, next_due_open_seconds=open_for, busy=busy
    )


@given(units, due, open_for, busy)
def test_a_span_is_wide_and_comes_soon_enough_to_hear_of_new_tasks(units, due, open_for, busy):
    found = hint(units, due, open_for, busy)
    assert found.min_seconds >= 0
    assert found.max_seconds - found.min_seconds >= HOUR / 4 - 1
    assert found.max_seconds <= 8 * DAY


@given(due, open_for, busy)
def test_days_with_nothing_due_are_skipped(due, open_for, busy):
    found = hint(frozenset(), due, open_for, busy)
    if due is not None:
        assert found.min_seconds >= min(due, 7 * DAY) - 1


@given(units, st.floats(0, 7 * DAY), st.floats(HOUR, 30 * DAY), busy)
def test_nobody_is_sent_past_the_next_window(units, due, open_for, busy):
    found = hint(units, due, open_for, busy)
    assert found.max_seconds <= due + 0.75 * open_for + 1


@given(units, due, open_for, st.tuples(busy, busy))
def test_the_busier_the_later(units, due, open_for, loads):
    calmer, busier = (hint(units, due, open_for, load) for load in sorted(loads))
    assert busier.min_seconds >= calmer.min_seconds
    assert busier.max_seconds >= calmer.max_seconds


def test_a_wholly_busy_server_is_asked_a_quarter_as_often():
    calm, busy = (hint(frozenset({Unit.WEEK}), None, None, load) for load in (0.0, 1.0))
    assert (busy.min_seconds, busy.max_seconds) == (4 * calm.min_seconds, 4 * calm.max_seconds)


def draw(rng: random.Random, found: NextCheckIn) -> float:
    return rng.uniform(found.min_seconds, found.max_seconds)


def busiest(moments: list[float], span: float) -> float:
    """The largest share of all that falls into one span of this length."""
    return max(Counter(moment // span for moment in moments).values()) / len(moments)


def test_there_is_no_herd_at_a_window_s_end():
    """Devices that checked in at any time of a week come within half a day, evenly: 1/12 an hour.

    20,000 devices: more than 1/12 + 0.015 in an hour has a false-alarm rate below 1e-10.
    """
    rng = random.Random(1)
    moments = []
    for _ in range(20_000):
        left = rng.uniform(0, 7 * DAY)
        moments.append(draw(rng, hint(frozenset(), left, DAY, 0.0)) - left)
    assert min(moments) + 1 >= 0
    assert busiest(moments, HOUR) < 1 / 12 + 0.015


def test_devices_that_come_together_do_not_come_together_again():
    """A push, or a network that comes back: 20,000 in one second, then at most 1/12 an hour."""
    rng = random.Random(2)
    found = hint(frozenset({Unit.WEEK}), None, None, 0.0)
    assert busiest([draw(rng, found) for _ in range(20_000)], HOUR) < 1 / 12 + 0.015


def test_there_is_no_herd_after_an_outage():
    """Ten devices a second, an outage of ten minutes: afterwards fewer than four times as many.

    All 6,000 who gathered would be 600 times as many, had they come back in one second. Counts are
    over ten seconds (mean below 300 with standard deviation 17): false alarms below 1e-6.
    """
    rng, outage, rate = random.Random(3), 600.0, 10
    back, waiting = [], [rng.uniform(0, outage) for _ in range(int(rate * outage))]
    while waiting:
        at = waiting.pop()
        if at < outage:
            waiting.append(at + retry_after(rng, over_seconds=at))
        else:
            back.append(at - outage)
    assert max(Counter(moment // 10 for moment in back).values()) < 3 * rate * 10
    assert max(back) <= outage + 2  # and all are back within as long as the outage was


@given(st.integers(), st.floats(0, 1e9))
def test_a_retry_is_worth_waiting_for_and_not_for_ever(seed, seconds):
    assert 2 <= retry_after(random.Random(seed), over_seconds=seconds) <= 1802


@given(st.integers(), busy)
def test_those_turned_away_come_back_within_hours(seed, load):
    assert 900 <= turned_away_seconds(random.Random(seed), busy=load) <= 2 * HOUR
