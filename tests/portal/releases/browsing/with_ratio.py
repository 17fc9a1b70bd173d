"""Two released days of a task with a ratio, and with what clipping may have moved.

In places further down the list every activity has longer trips, but fewer of them are flights: the
mean of all trips is smaller there, while the means by activity are larger. Rows are shown on
account of kilometres alone: of Marseille they are, and its few trips are not enough to divide by.
Lyon has hardly any runners.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aggregation.release.noise import add_noise
from portal.releases import running, services
from portal.releases.browsing.tables import Tables
from portal.releases.models import Release
from portal.releases.showing import Shown
from portal.streams.geography import Geography
from tests.conftest import draw_from
from tests.portal.collection import collecting as module
from tests.portal.releases.browsing.conftest import (
    AFTER,
    FIRST,
    LYON,
    MARSEILLE,
    SPEC,
    Kept,
)
from tests.portal.releases.browsing.test_browsing_pages import TASK

__all__ = ["AT", "RATIO", "released", "streams", "tables"]

AT = f"/releases/{TASK}/{FIRST}"
RATIO = "km_per_trip"
_SUM = "         SUM(distance_km) AS distance_km\n  FROM device"
_CLIPPING = """\
  clip_uncertainty:
    count: num_trips
    source: a proxy
    metrics:
      num_trips: {{random: 0.471, together: 0.913, systematic: 0.0257, alike: 0.985}}
      distance_km: {{random: 1, together: 0.248, systematic: 0.0413, alike: 0.859}}
"""
# Kilometres of a trip, by activity; flights are the last.
_LENGTHS = (1, 2, 4, 6, 15, 8, 30, 10, 800)
_RUNNING = 1
# One, in steps of a twentieth of 2^20.
_ONE = 2**20 / 20


def _spec() -> str:
    rule = "max_relative_noise: 0.1"
    ratio = f"SUM(distance_km) / SUM(num_trips) AS {RATIO}"
    return (
        SPEC.replace(_SUM, _SUM.replace("\n", f", {ratio}\n", 1))
        .replace("  suppression:", f"{_CLIPPING}  suppression:")
        .replace(rule, f"{rule}, metrics: [distance_km]")
    )


@pytest.fixture
def streams(streams: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SPEC", _spec())


@pytest.fixture
def released(
    collecting: Any, few: Geography, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> list[Release]:
    def filled(report: Any, recipe: Any) -> Any:
        sums = report.sums.reshape(len(few.places), len(_LENGTHS), 2)
        for rank, place in enumerate(few.places):
            sums[rank] += (_ONE * _travelled(rank, place.geonameid)).astype(np.int64)
        return add_noise(report, recipe)

    monkeypatch.setattr(services, "add_noise", filled)
    draw_from("a ratio", monkeypatch)
    if not kept.is_there:
        collecting.go_to(AFTER)
        running.release_due_windows(clock=collecting.clock)
        running.render_releases()
        kept.keep()
    return list(Release.objects.order_by("window__start"))


@pytest.fixture
def tables(released: list[Release]) -> Tables:
    return Tables(Shown(released[0]))


def _travelled(rank: int, place: int) -> np.ndarray:
    """Trips and kilometres by activity."""
    if place == MARSEILLE:
        return np.full((len(_LENGTHS), 2), [100, 10_000])
    trips = np.full(len(_LENGTHS), 20_000 * (rank + 1))
    trips[-1] *= 5 - rank
    if place == LYON:
        trips[_RUNNING] = 10
    return np.stack([trips, trips * np.array(_LENGTHS) * (1 + 0.05 * rank)], axis=1)
