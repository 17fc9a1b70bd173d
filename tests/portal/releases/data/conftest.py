"""Two released days over real places, with sums that are known, public, and far above the noise."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.test import Client

from aggregation.release.noise import add_noise
from portal.releases import running, services
from portal.releases.models import Release
from portal.streams.geography import GEONAMES, Geography, Source
from portal.streams.services import install_streams
from tests.portal.collection import collecting as module
from tests.portal.collection.collecting import someone
from tests.portal.releases.conftest import collecting, keys, parts

__all__ = ["collecting", "keys", "parts"]

FIRST, SECOND = "2026-11-17", "2026-11-18"
AFTER = "2026-11-21T00:00:00"
# Most populous first, as in the whole list; the last has nobody in it.
BERLIN, PARIS, MUNICH, MARSEILLE, LYON = 2950159, 2988507, 2867714, 2995469, 2996944
ACTIVITIES = 9
# On the grid of the task, one trip of the first place and activity; see `released`.
STEP = 10**11
AT = f"/releases/trips-by-region/{SECOND}"
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
  epsilon: 0.5
  mechanism: {{kind: joint_clipping, clip: 20}}
  suppression: {{max_relative_noise: 0.1}}
publish: {{audience: public}}
post_processing: emissions
"""


@pytest.fixture(scope="session")
def few() -> Geography:
    whole = GEONAMES.load()
    wanted = (BERLIN, PARIS, MUNICH, MARSEILLE, LYON)
    places = [place for place in whole.places if place.geonameid in wanted]
    there = {place.country for place in places}
    return Geography(places, [one for one in whole.countries if one.code in there])


@pytest.fixture
def streams(few: Geography, settings: Any, tmp_path: Any, monkeypatch: Any) -> None:
    settings.DATA = tmp_path / "data"
    settings.PUBLIC_RELEASES = True
    install_streams(
        folder=settings.DATA / "streams", tell=lambda _: None, source=Source.holding(few)
    )
    monkeypatch.setattr(module, "SPEC", SPEC)


@pytest.fixture
def released(collecting: Any, few: Geography, monkeypatch: Any) -> list[Release]:
    """Both days: sums grow with place, activity and day, and the last place is empty."""

    def filled(report: Any, recipe: Any) -> Any:
        place, activity = np.divmod(np.arange(len(report.sums)), ACTIVITIES)
        day = 1 + Release.objects.count()
        sizes = np.where(place < len(few.places) - 1, (place + 1) * (activity + 1) * day * STEP, 0)
        report.sums[:] += sizes[:, None]
        return add_noise(report, recipe)

    monkeypatch.setattr(services, "add_noise", filled)
    collecting.go_to(AFTER)
    for _ in range(2):
        running.release_due_windows(clock=collecting.clock)
    running.render_releases()
    return list(Release.objects.order_by("window__start"))


@pytest.fixture
def client(collecting: Any) -> Client:
    client = Client()
    client.force_login(someone("carla", "consumer"))
    return client


@pytest.fixture
def body() -> Callable[[Any], bytes]:
    """The whole body of a response, streamed or not."""

    def read(response: Any) -> bytes:
        async def parts() -> bytes:
            return b"".join([part async for part in response.streaming_content])

        return asyncio.run(parts()) if response.streaming else response.content

    return read
