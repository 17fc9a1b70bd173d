"""A task that runs, and calibration tasks of it that are reviewed, run and released like any."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

from aggregation.protocol.anonymization import GRID
from aggregation.protocol.part import Floats
from aggregation.protocol.steps import BUCKETS, LOWEST_SCALED, buckets_of
from aggregation.release.noise import add_noise
from portal.accounts.models import Person
from portal.releases import running
from portal.releases import services as releases
from portal.releases.models import Release
from portal.tasks import services
from portal.tasks.models import Draft, Revision, Task
from tests.portal.collection import collecting as module
from tests.portal.collection.conftest import collecting, keys, parts
from tests.portal.tasks.conftest import PASSWORD

__all__ = ["collecting", "keys", "parts"]

NAME = "trips-by-region"
SPEC = """\
name: {name}
description: Trips by region and activity
streams: [trips]
population: all
window: {{unit: day, grace_hours: {grace}}}
client_sql: |
  SELECT region, activity, privacy_time_unit, COUNT(*) AS num_trips,
         SUM(distance_km) AS distance_km
  FROM trips GROUP BY region, activity, privacy_time_unit
server_sql: |
  SELECT region, activity, privacy_time_unit, SUM(num_trips) AS num_trips,
         SUM(distance_km) AS distance_km
  FROM device_results GROUP BY region, activity, privacy_time_unit
aggregation:
  {{min_contributions: 100, max_contributions: 400, max_session_minutes: 60, max_rows: 4}}
anonymization:
  epsilon: 0.2
  mechanism: {{kind: joint_clipping, clip: 20}}
  clip_uncertainty:
    count: num_trips
    metrics: {{num_trips: {{random: 1}}, distance_km: {{random: 1}}}}
    source: A survey
publish: {{audience: public}}
post_processing: emissions
"""
ACTIVITIES, METRICS = 9, 2
# What the first activities have in the middle; the others are nobody's.
MEDIANS = {0: (3.0, 4.0), 4: (9.0, 80.0), 5: (5.0, 30.0)}


@pytest.fixture
def streams(catalog: Any, settings: Any, tmp_path: Path, monkeypatch: Any) -> None:
    settings.DATA = tmp_path / "data"
    catalog.write(settings.DATA / "streams")
    monkeypatch.setattr(module, "SPEC", SPEC)


@pytest.fixture
def task(collecting: Any) -> Task:
    """It was approved on the 16th; it is the 18th."""
    found: Task = collecting.revision.task
    return found


@pytest.fixture
def approved(clock: Any) -> Callable[[str], Revision]:
    """Submit a task's draft, and have a second person approve it."""

    def do(name: str) -> Revision:
        ada, rafael = (Person.objects.get(username=name) for name in ("ada", "rafael"))
        task = Task.objects.get(name=name)
        version = Draft.objects.get(task=task).version
        revision = services.submit(task=task, version=version, actor=ada, clock=clock)
        return services.approve(
            revision=revision,
            seen=revision.content_sha256,
            password=PASSWORD,
            comment="",
            actor=rafael,
            clock=clock,
        )

    return do


@pytest.fixture
def released(collecting: Any) -> Callable[[Revision, str], Release]:
    """The release of a calibration's one window, once that is due."""

    def do(revision: Revision, moment: str) -> Release:
        collecting.go_to(moment)
        collecting.go_to(moment)  # closes what the first look has opened
        for _ in range(12):
            running.release_due_windows(clock=collecting.clock)
        return Release.objects.get(window__revision=revision)

    return do


@pytest.fixture
def crowded(monkeypatch: Any) -> None:
    """Calibrations have 300,000 devices more than answered, before the noise."""

    def filled(report: Any, recipe: Any) -> Any:
        if recipe.metrics == ("devices",):
            report.sums[:, 0] += (crowd(len(report.sums)) * GRID).astype(np.int64)
        return add_noise(report, recipe)

    monkeypatch.setattr(releases, "add_noise", filled)


def crowd(cells: int) -> Floats:
    """Devices by cell of a calibration."""
    if cells == BUCKETS:
        return histogram(norms(0.8, 0), LOWEST_SCALED) * 3
    counts = np.zeros((ACTIVITIES, METRICS, BUCKETS))
    for activity, medians in MEDIANS.items():
        for metric, median in enumerate(medians):
            counts[activity, metric] = histogram(norms(median, metric), LOWEST[metric]) / 2
    return counts.ravel()


# As `asking.lowest_edge` has them: 1/16, and a sixteenth of the low end of what is typical.
LOWEST = (1 / 16, 1 / 64)


def norms(median: float, seed: int) -> Floats:
    return np.random.default_rng(seed).lognormal(np.log(median), 0.8, 100_000)


def histogram(norms: Floats, lowest: float) -> Floats:
    return np.bincount(buckets_of(norms, np.array(lowest)), minlength=BUCKETS).astype(float)


@pytest.fixture
def client(task: Task) -> Client:
    client = Client()
    client.force_login(Person.objects.get(username="ada"))
    return client
