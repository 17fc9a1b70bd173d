"""The scales of the demo's tasks fit its world, and show its cities."""

from collections import Counter
from datetime import datetime

import numpy as np
import pytest
import yaml

from aggregation.calibration.clips import clip_by_quantile, norms_of
from aggregation.calibration.proxy import Proxy
from aggregation.calibration.scales import Scaled
from aggregation.ondevice.bounding import Rows
from aggregation.protocol.domains import Domain
from aggregation.protocol.ranks import Cells
from aggregation.protocol.shipped import ACTIVITIES
from devices_sim.fleet.ground_truth import METRICS, sums_by_phone, true_sums
from devices_sim.fleet.world import World
from portal.tasks.starting_points import starting_point
from tests.devices_sim.fleet.small_world import MONDAY, SECONDS, WEEK, world
from tests.portal.lab.calibrating.built_in import HOW, facts, measured


def mechanism(slug: str) -> dict:
    return yaml.safe_load(starting_point(slug).text)["anonymization"]["mechanism"]


def by_activity(made: World, metrics: list[str]) -> Proxy:
    """What each phone did in a week, by activity."""
    parts = list(sums_by_phone(made, "trips", WEEK, keys=("activity",)))
    phone, cell, units = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("phone", "cell", "units")
    )
    firsts = np.flatnonzero(np.diff(phone, prepend=-1))
    values = (units / [1, *METRICS["trips"].values()])[:, : len(metrics)]
    cells = Cells(("activity",), (Domain(list(ACTIVITIES)),))
    rows = Rows(np.append(firsts, len(phone)), cell, values)
    return Proxy.of(cells, metrics, rows, count="num_trips")


@pytest.mark.parametrize("slug", ["weekly-trips", "country-modal-split"])
def test_the_demos_tasks_fit_its_world(slug):
    """Within a factor of 1.5; flights are few, so theirs is within 2."""
    given = mechanism(slug)
    metrics = list(given["scales"]["driving"])
    assert metrics == ["num_trips", "distance_km", "duration_min"][: len(metrics)]
    fitted = Scaled.of(by_activity(world("demo", phones=4_000), metrics), ("activity",))
    for activity, scales in given["scales"].items():
        most = 2 if activity == "flying" else 1.5
        for metric, scale in scales.items():
            assert 1 / most < scale / fitted.named[activity][metric] < most
    clip = clip_by_quantile(norms_of(fitted.proxy, fitted.by_row), 0.9)
    assert 1 / 1.5 < given["clip"] / clip < 1.5


def test_what_ships_with_them_is_what_was_measured(size):
    """At full size to the last digit; a fifth of the phones tell the same sizes, about."""
    point = starting_point("country-modal-split")
    told = point.provenance
    date = datetime.fromisoformat(told["date"])
    phones = None if size == "full" else 6_000
    found = facts(measured(point, date=date, phones=phones))
    if size == "full":
        assert found == told
    assert (found["kind"], found["seed"], found["fit"]) == ("simulated", 2026, HOW)
    for name, row in told["per_event"].items():
        most = 0.4 if name == "flying" else 0.15
        assert found["per_event"][name] == pytest.approx(row, rel=most)


def test_the_demos_cities_show_although_only_half_of_its_phones_are_in_time():
    """Its grace is a day: phones count that have a moment on Monday. Suppression is at 0.1.

    A cell shows if it is above ten times its mean noise b; 4 b more make it sure to 97 %.
    """
    given = mechanism("weekly-trips")
    made = world("demo")
    end = MONDAY + SECONDS
    monday = [made.wake_ups(phone, end, end + 86_400) for phone in range(made.phones)]
    in_time = np.array([any(not has.missing for _, has in moments) for moments in monday])
    assert 0.42 < in_time.mean() < 0.46
    sums = true_sums(made, "trips", WEEK, phones=in_time)
    b = np.array([list(given["scales"][name].values()) for name in sums.keys["activity"]]) * (
        given["clip"] / 2
    )
    shows = (np.stack([sums.events, *sums.totals.values()], axis=1) > 14 * b).all(axis=1)
    cells = Counter(np.array(sums.keys["region"])[shows].tolist())
    assert set(cells) == set(made.scenario.places)
    assert sum(count >= 2 for count in cells.values()) >= 20
