"""Scales are read from a world as the paper reads them, and the demo's tasks fit its world."""

from collections import Counter

import numpy as np
import pytest
import yaml

from devices_sim.fleet.ground_truth import true_sums
from devices_sim.fleet.scales import fitted_scales
from portal.tasks.starting_points import starting_point
from tests.devices_sim.fleet.small_world import MONDAY, SECONDS, WEEK, world


def test_they_are_quantiles_over_those_who_have_the_activity():
    made = world("demo", phones=1200)
    km = {}
    for phone in range(1200):
        for event in made.events(phone, "trips", MONDAY, MONDAY + SECONDS):
            if event.values[2] == "cycling":
                km[phone] = km.get(phone, 0) + event.values[4]
    fitted = fitted_scales(made, WEEK).by_activity["cycling"]["distance_km"]
    assert fitted == pytest.approx(np.quantile(list(km.values()), 0.95))


def test_a_higher_quantile_clips_higher():
    made = world("demo", phones=1200)
    clips = [fitted_scales(made, WEEK, clip_quantile=q).clip for q in (0.5, 0.9, 0.98)]
    assert clips == sorted(clips)


def test_they_are_told_as_a_spec_writes_them():
    told = list(fitted_scales(world("demo", phones=1200), WEEK, metrics=("num_trips",)).lines())
    written = yaml.safe_load("\n".join(told))
    assert set(written) >= {"walking", "driving", "clip"}
    assert set(written["driving"]) == {"num_trips"}


@pytest.mark.parametrize("slug", ["weekly-trips", "country-modal-split"])
def test_the_demos_tasks_fit_its_world(slug):
    """Within a factor of 1.5; flights are few, so theirs is within 2."""
    mechanism = yaml.safe_load(starting_point(slug).text)["anonymization"]["mechanism"]
    metrics = list(mechanism["scales"]["driving"])
    made = world("demo", phones=4_000)
    fitted = fitted_scales(made, WEEK, metrics=metrics, clip_quantile=0.9)
    for activity, scales in mechanism["scales"].items():
        most = 2 if activity == "flying" else 1.5
        for metric, scale in scales.items():
            assert 1 / most < scale / fitted.by_activity[activity][metric] < most
    assert 1 / 1.5 < mechanism["clip"] / fitted.clip < 1.5


def test_the_demos_cities_show_although_only_half_of_its_phones_are_in_time():
    """Its grace is a day: phones count that have a moment on Monday. Suppression is at 0.1.

    A cell shows if it is above ten times its mean noise b; 4 b more make it sure to 97 %.
    """
    mechanism = yaml.safe_load(starting_point("weekly-trips").text)["anonymization"]["mechanism"]
    made = world("demo")
    end = MONDAY + SECONDS
    monday = [made.wake_ups(phone, end, end + 86_400) for phone in range(made.phones)]
    in_time = np.array([any(not has.missing for _, has in moments) for moments in monday])
    assert 0.42 < in_time.mean() < 0.46
    sums = true_sums(made, "trips", WEEK, phones=in_time)
    b = np.array([list(mechanism["scales"][name].values()) for name in sums.keys["activity"]]) * (
        mechanism["clip"] / 2
    )
    shows = (np.stack([sums.events, *sums.totals.values()], axis=1) > 14 * b).all(axis=1)
    cells = Counter(np.array(sums.keys["region"])[shows].tolist())
    assert set(cells) == set(made.scenario.places)
    assert sum(count >= 2 for count in cells.values()) >= 20
