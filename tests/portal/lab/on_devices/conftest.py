"""A task that runs, and calibration tasks of it that are reviewed, run and released like any."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

from aggregation.protocol.anonymization import GRID
from aggregation.release.noise import add_noise
from portal.accounts.models import Person
from portal.releases import running
from portal.releases import services as releases
from portal.releases.models import Release
from portal.tasks import services
from portal.tasks.models import Draft, Revision, Task
from tests.portal.collection import collecting as module
from tests.portal.collection.conftest import collecting, first_database, keys, parts
from tests.portal.lab.on_devices.crowd import crowd
from tests.portal.releases.browsing.conftest import SPEC as TRIPS
from tests.portal.tasks.conftest import PASSWORD

__all__ = ["collecting", "first_database", "keys", "parts"]

NAME = "trips-by-region"
# What it says of clip uncertainty is of its own bound, and gives way to that of a calibration.
SPEC = TRIPS.replace("epsilon: 0.5", "epsilon: 0.2").replace(
    "  suppression: {{max_relative_noise: 0.1}}",
    """\
  clip_uncertainty:
    count: num_trips
    metrics: {{num_trips: {{random: 1}}, distance_km: {{random: 1}}}}
    source: A survey""",
)


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


@pytest.fixture
def client(task: Task) -> Client:
    client = Client()
    client.force_login(Person.objects.get(username="ada"))
    return client
