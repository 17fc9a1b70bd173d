"""How people travel: habits that last, a weekly rhythm, heavy tails, countries that differ.

All with fixed seeds: these are facts about the worlds that ship, not estimates.
"""

from collections import Counter

import numpy as np
import pytest

from aggregation.protocol.shipped import ACTIVITIES
from aggregation.protocol.windows import Unit, Window
from devices_sim.fleet.ground_truth import sums_by_phone, true_sums
from tests.devices_sim.fleet.small_world import WEEK, world

NEXT = WEEK.next()
DRIVING, FLYING = ACTIVITIES.index("driving"), ACTIVITIES.index("flying")


@pytest.fixture(scope="module")
def made():
    return world("demo", phones=4_000)


def by(sums, *keys):
    """A counter of events by keys."""
    found = Counter()
    for *key, events in zip(*(sums.keys[name] for name in keys), sums.events.tolist(), strict=True):
        found[tuple(key) if len(key) > 1 else key[0]] += events
    return found


def per_phone(made, activity, window=WEEK):
    """Trips, metres and seconds of every phone by this activity."""
    found = np.zeros((made.phones, 3))
    for part in sums_by_phone(made, "trips", window, keys=("activity",)):
        rows = part.cell == activity
        found[part.phone[rows]] = part.units[rows]
    return found


def test_all_nine_activities_happen_as_often_as_one_would_think(made):
    sums = true_sums(made, "trips", WEEK, keys=("activity",))
    trips = dict(zip(sums.keys["activity"], (sums.events / made.phones).tolist(), strict=True))
    devices = dict(zip(sums.keys["activity"], (sums.devices / made.phones).tolist(), strict=True))
    assert set(trips) == set(map(str, ACTIVITIES))
    assert 15 < sum(trips.values()) < 40
    assert devices["walking"] > 0.9
    assert 0.4 < devices["driving"] < 0.8
    assert 0.05 < devices["running"] < 0.2
    assert 0.003 < devices["flying"] < 0.03


def test_lengths_and_speeds_are_believable(made):
    sums = true_sums(made, "trips", WEEK, keys=("activity",))
    km, hours = sums.totals["distance_km"], sums.totals["duration_min"] / 60
    speed = dict(zip(sums.keys["activity"], km / hours, strict=True))
    assert 3 < speed["walking"] < 6 < speed["running"] < 12
    assert 10 < speed["cycling"] < 18
    assert 15 < speed["bus"] < speed["driving"] < speed["train"] < 90
    assert 500 < speed["flying"] < 900


def test_lengths_have_heavy_tails(made):
    driven = per_phone(made, DRIVING)[:, 1]
    driven = driven[driven > 0]
    assert np.quantile(driven, 0.99) > 8 * np.median(driven)


def test_those_who_are_extreme_in_one_activity_are_not_in_another(made):
    heavy = []
    for activity in (ACTIVITIES.index("walking"), ACTIVITIES.index("cycling"), DRIVING):
        km = per_phone(made, activity)[:, 1]
        heavy.append(km > np.quantile(km[km > 0], 0.95))
    alone = heavy[0].astype(int) + heavy[1] + heavy[2]
    assert (alone == 1).sum() > 10 * (alone > 1).sum()


def test_habits_last(made):
    cycling = ACTIVITIES.index("cycling")
    this, next_ = (per_phone(made, cycling, window)[:, 0] > 0 for window in (WEEK, NEXT))
    again, by_chance = (this & next_).mean() / this.mean(), next_.mean()
    assert again > 2.5 * by_chance
    assert not (this == next_).all()


def test_countries_differ_in_how_people_get_about(made):
    trips = by(true_sums(made, "trips", WEEK, keys=("country", "activity")), "country", "activity")

    def share(country, activity):
        return trips[country, activity] / sum(n for (c, _), n in trips.items() if c == country)

    assert share("IN", "motorcycling") > 4 * share("DE", "motorcycling")
    assert share("DE", "cycling") > 2 * share("US", "cycling")
    assert share("JP", "train") > 2 * share("US", "train")
    assert share("US", "driving") > 1.5 * share("IN", "driving")


def test_people_sleep_at_night_and_work_on_weekdays(made):
    hours = by(true_sums(made, "trips", WEEK, keys=("hour_of_day",)), "hour_of_day")
    assert sum(hours[hour] for hour in range(1, 5)) < 0.04 * hours.total()
    assert max(hours, key=hours.__getitem__) in (7, 8, 16, 17, 18)
    days = by(true_sums(made, "trips", WEEK, keys=("day_of_week",)), "day_of_week")
    assert min(days[day] for day in range(5)) > 0
    at_eight = by(
        true_sums(made, "trips", WEEK, keys=("day_of_week", "hour_of_day")),
        "day_of_week",
        "hour_of_day",
    )
    assert at_eight[1, 7] > 2 * at_eight[6, 7]


def test_as_many_ways_lead_out_as_in(made):
    sums = by(
        true_sums(made, "trips", WEEK, keys=("activity", "direction")), "activity", "direction"
    )
    for activity in map(str, ACTIVITIES):
        assert sums[activity, "outbound"] == sums[activity, "inbound"]
    assert sums["flying", "within"] == 0
    assert sums["running", "outbound"] == 0


def test_who_leaves_a_city_comes_back(made):
    sums = by(true_sums(made, "trips", WEEK, keys=("region", "direction")), "region", "direction")
    for city in made.scenario.places:
        assert sums[city, "outbound"] == pytest.approx(sums[city, "inbound"], rel=0.05)


def test_commuters_make_two_peaks_on_weekdays():
    paris = world("commute", phones=3_000)
    hours = by(
        true_sums(paris, "trips", WEEK, keys=("day_of_week", "hour_of_day")),
        "day_of_week",
        "hour_of_day",
    )
    weekday = [hours[1, hour] for hour in range(24)]
    weekend = sum(hours[day, hour] for day in (5, 6) for hour in range(24))
    assert min(weekday[7:9]) > 2 * max(weekday[10:12])
    assert max(weekday[16:18]) > 2 * max(weekday[10:12])
    assert weekend < 0.22 * hours.total()
    shares = by(true_sums(paris, "trips", WEEK, keys=("country",)), "country")
    assert shares["FR"] > 0.99 * shares.total()


def test_a_holiday_is_for_flying_and_long_drives():
    away = world("holiday", phones=4_000)
    usual, holiday = (true_sums(away, "trips", week, keys=("activity",)) for week in (WEEK, NEXT))
    before, then = by(usual, "activity"), by(holiday, "activity")
    assert then["flying"] > 3 * before["flying"]
    assert then["train"] < 0.9 * before["train"]
    km_before, km_then = (
        dict(zip(s.keys["activity"], s.totals["distance_km"] / s.events, strict=True))
        for s in (usual, holiday)
    )
    assert km_then["driving"] > 1.3 * km_before["driving"]
    in_japan = [
        by(
            true_sums(away, "trips", week, keys=("country", "hour_of_day")),
            "country",
            "hour_of_day",
        )
        for week in (WEEK, NEXT)
    ]
    assert in_japan[1]["JP", 8] == pytest.approx(in_japan[0]["JP", 8], rel=0.15)
    assert in_japan[1]["DE", 8] < 0.6 * in_japan[0]["DE", 8]


def test_a_month_is_a_window_as_well():
    few = world("demo", phones=300)
    month = Window.parse("2026-11-01", Unit.MONTH)
    assert len(true_sums(few, "trips", month)) > len(true_sums(few, "trips", WEEK))
