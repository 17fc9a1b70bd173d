"""Two released days of a task over real places, with sums that dwarf the noise and are known.

Each sum is in proportion to the day, the rank of the place and that of the activity. The days are
released once; all other tests that want them get a copy of what there was then.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test import Client

from aggregation.release.noise import add_noise
from portal.accounts.models import Person
from portal.releases import running, services
from portal.releases.browsing.tables import Tables
from portal.releases.models import Release
from portal.releases.showing import Shown
from portal.streams.geography import GEONAMES, Geography, Source
from portal.streams.services import install_streams
from portal.tasks.models import Revision
from tests.conftest import draw_from
from tests.portal.collection import collecting as module
from tests.portal.collection.collecting import Collecting, moment, someone
from tests.portal.collection.conftest import BEGUN
from tests.portal.releases.conftest import first_database, keys, parts

__all__ = ["first_database", "keys", "parts"]

FIRST, SECOND = "2026-11-17", "2026-11-18"
AFTER = "2026-11-21T00:00:00"
PARIS, LYON, BERLIN, MUNICH = 2988507, 2996944, 2950159, 2867714
# Nobody is in it.
MARSEILLE = 2995469
PLACES = (PARIS, LYON, BERLIN, MUNICH, MARSEILLE)
ACTIVITIES = 9
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
    places = [place for place in whole.places if place.geonameid in PLACES]
    there = {place.country for place in places}
    return Geography(places, [one for one in whole.countries if one.code in there])


class Kept:
    """A database and the folders beside it, for other tests to go on from."""

    def __init__(self, folder: Path, *beside: Path) -> None:
        self._folder, self._beside = folder, beside

    @property
    def is_there(self) -> bool:
        return self._folder.exists()

    def keep(self) -> None:
        connection.close()
        for folder in self._beside:
            shutil.copytree(folder, self._folder / folder.name)
        shutil.copy(connection.settings_dict["NAME"], self._folder / "database")

    def take(self) -> None:
        connection.close()
        for folder in self._beside:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self._folder / folder.name, folder)
        shutil.copy(self._folder / "database", connection.settings_dict["NAME"])


@pytest.fixture
def streams(few: Geography, settings: Any, tmp_path: Any, monkeypatch: Any) -> None:
    settings.DATA = tmp_path / "data"
    settings.PUBLIC_RELEASES = True
    install_streams(
        folder=settings.DATA / "streams", tell=lambda _: None, source=Source.holding(few)
    )
    monkeypatch.setattr(module, "SPEC", SPEC)


@pytest.fixture
def kept(tmp_path_factory: Any, streams: None, few: Geography, keys: Path, settings: Any) -> Kept:
    """Of the first test that asked for released days of the same task in the same places."""
    same = (module.SPEC, [place.geonameid for place in few.places])
    name = f"kept-{sha256(repr(same).encode()).hexdigest()}"
    return Kept(tmp_path_factory.getbasetemp() / name, settings.DATA, keys)


@pytest.fixture
def collecting(
    parts: Any, clock: Any, kept: Kept, request: pytest.FixtureRequest
) -> Iterator[Collecting]:
    """As elsewhere, unless both days are wanted and were released before."""
    clock.set(moment(BEGUN))
    if "released" in request.fixturenames and kept.is_there:
        kept.take()
        clock.set(moment(AFTER))
    made = Collecting(clock, parts, Revision.objects.get())
    yield made
    made.join()


@pytest.fixture
def released(collecting: Any, few: Geography, kept: Kept, monkeypatch: Any) -> list[Release]:
    """Both days; the first is half of the second."""

    def filled(report: Any, recipe: Any) -> Any:
        ranks = np.arange(len(report.sums)).reshape(len(few.places), ACTIVITIES)
        day = 1 + Release.objects.count()
        for rank, place in enumerate(few.places):
            for activity in range(ACTIVITIES if place.geonameid != MARSEILLE else 0):
                report.sums[ranks[rank, activity]] += (rank + 1) * (activity + 1) * day * 10**11
        return add_noise(report, recipe)

    monkeypatch.setattr(services, "add_noise", filled)
    draw_from("both days", monkeypatch)
    if not kept.is_there:
        collecting.go_to(AFTER)
        for _ in range(2):
            running.release_due_windows(clock=collecting.clock)
        running.render_releases()
        kept.keep()
    return list(Release.objects.order_by("window__start"))


@pytest.fixture
def tables(released: list[Release]) -> Tables:
    return Tables(Shown(released[1]))


@pytest.fixture
def earlier(released: list[Release]) -> Tables:
    return Tables(Shown(released[0]))


@pytest.fixture
def client(collecting: Any) -> Client:
    client, carla = Client(), Person.objects.filter(username="carla").first()
    client.force_login(carla or someone("carla", "consumer"))
    return client


def rewrite(release: Release, **changes: object) -> None:
    """Rows never change; this database is the test's."""
    with connection.cursor() as database:
        database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s",
            [release._meta.db_table],
        )
        for (name,) in database.fetchall():
            database.execute(f'DROP TRIGGER "{name}"')
    Release.objects.filter(pk=release.pk).update(**changes)
