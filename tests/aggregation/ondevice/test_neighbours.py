"""Neighbouring fleets: with or without one device, the sums differ by at most K, whatever it does.

This is the sensitivity that the noise is scaled to, measured from events to the core's report.
"""

import math
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.core.interface import Verdict
from aggregation.ondevice.events import Event
from aggregation.ondevice.execute import PreparedTask
from aggregation.protocol.anonymization import GRID, Mechanism
from aggregation.protocol.shipped import shipped_catalog
from aggregation.protocol.streams import Catalog
from tests.aggregation.mechanisms.examples import KINDS, METRICS, REGIONS, mechanisms
from tests.aggregation.ondevice.examples import WEEK, WEEKLY_TRIPS, client_task, trip

CATALOG: Catalog = shipped_catalog(regions=[str(r) for r in REGIONS], countries=["DE"])
HEAD = "SELECT region, activity, direction, privacy_time_unit, "
QUERIES = {
    "as reviewed": WEEKLY_TRIPS,
    "raw rows": HEAD + "1, distance_km, duration_min FROM trips",
    "magnified": HEAD
    + "COUNT(*) * 1e12, -SUM(distance_km) * 1e300, 9e18 FROM trips GROUP BY 1, 2, 3",
    "multiplied rows": "SELECT a.region, a.activity, b.direction, a.privacy_time_unit, "
    "SUM(a.distance_km * b.distance_km), COUNT(*), SUM(b.duration_min) "
    "FROM trips AS a, trips AS b GROUP BY 1, 2, 3",
    "one per cell": HEAD + "0.5, -0.5, 0.25 FROM trips GROUP BY 1, 2, 3",
}
PARAMS = Params(cells=12 * 27, metrics=3, max_rows=20, min_contributions=0)

awkward = st.sampled_from(
    [0.0, -1.0, 5e-324, 1e-9, 1e9, 1e300, 1.7e308, math.inf, -math.inf, math.nan]
)
size = st.one_of(st.floats(0, 500), awkward)
events = st.lists(
    st.builds(
        trip,
        after=st.integers(-1, 170).map(lambda hours: timedelta(hours=hours)),
        region=st.sampled_from([str(r) for r in REGIONS] + ["nowhere"]),
        activity=st.sampled_from(["walking", "driving", "flying", "bus"]),
        direction=st.sampled_from(["within", "outbound", "inbound"]),
        distance_km=size,
        duration_min=size,
    ),
    max_size=30,
)


def _sums(prepared: PreparedTask, fleet: list[list[Event]]) -> np.ndarray:
    core = GroupBySum(PARAMS)
    for own in fleet:
        assert core.accumulate(prepared.execute({"trips": own}, WEEK)) is Verdict.ACCEPTED
    return core.report().sums


def _prepared(kind: str, query: str, wide: float) -> PreparedTask:
    mechanism: Mechanism = mechanisms(METRICS, wide=wide)[kind]
    task = client_task(CATALOG, sql=QUERIES[query], mechanism=mechanism, max_rows=20)
    return PreparedTask(task, CATALOG)


@pytest.mark.parametrize("kind", KINDS)
@given(
    query=st.sampled_from(sorted(QUERIES)),
    wide=st.sampled_from([1e-6, 0.01, 1.0]),
    others=st.lists(events, max_size=2),
    device=events,
)
def test_one_device_moves_the_sums_by_at_most_the_bound(
    kind: str, query: str, wide: float, others: list[list[Event]], device: list[Event]
) -> None:
    prepared = _prepared(kind, query, wide)
    difference = _sums(prepared, [*others, device]) - _sums(prepared, others)
    assert sum(abs(q) for q in difference.ravel().tolist()) <= GRID


@pytest.mark.parametrize("kind", KINDS)
def test_a_heavy_device_uses_nearly_all_of_the_bound(kind: str) -> None:
    """So that the test above is not passed by devices that send nothing."""
    heavy = [
        trip(region=str(r), activity=a, distance_km=1e6, duration_min=1e6)
        for r in REGIONS
        for a in ("walking", "driving")
    ]
    moved = int(np.abs(_sums(_prepared(kind, "as reviewed", 0.01), [heavy])).sum())
    # Under a split budget two of nine activities can use two ninths of it.
    assert moved > (GRID * 2 / 9 if kind == "budget_split" else GRID) - 100
    assert moved <= GRID
