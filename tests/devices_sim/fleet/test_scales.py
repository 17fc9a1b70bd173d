"""Scales are read from a world as the paper reads them, and the demo's tasks fit its world."""

import numpy as np
import pytest
import yaml

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
