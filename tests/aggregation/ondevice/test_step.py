"""The built-in step: worked by hand, bounded like everything else, refused where it is unknown."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.errors import Problem
from aggregation.ondevice.events import Event
from aggregation.ondevice.execute import PreparedTask, execute
from aggregation.protocol.anonymization import GRID, JointClipping
from aggregation.protocol.client_task import ClientTask, Step
from aggregation.protocol.part import Part
from aggregation.protocol.ranks import Cells
from aggregation.protocol.steps import BUCKETS, Norms, ScaledNorm, SliceNorms, edges
from aggregation.protocol.streams import Catalog
from tests.aggregation.ondevice.examples import WEEK, client_task, trip

METRICS = ("num_trips", "distance_km", "duration_min")
BY_ACTIVITY = SliceNorms(by=("activity",), lowest=dict.fromkeys(METRICS, 1.0))


def calibration(catalog: Catalog, norms: Norms, **changes: object) -> ClientTask:
    plain = client_task(catalog)
    step = Step(keys=plain.keys, metrics=plain.metrics, norms=norms)
    given = {"keys": step.made_keys, "metrics": step.made_metrics, "max_rows": 27, "step": step}
    given["mechanism"] = JointClipping(clip=1.0)
    return msgspec.structs.replace(plain, **{**given, **changes})


def scaled(catalog: Catalog, size: float) -> ScaledNorm:
    activities = [
        str(value) for value in Cells.of(client_task(catalog).keys, catalog.domain).domains[1]
    ]
    return ScaledNorm(("activity",), {name: dict.fromkeys(METRICS, size) for name in activities})


def buckets(catalog: Catalog, norms: Norms, *events: Event) -> dict[tuple[object, ...], int]:
    """Cell → grid units."""
    task = calibration(catalog, norms)
    part = execute(task, {"trips": events}, WEEK, catalog)
    cells = Cells.of(task.keys, catalog.domain)
    units = part.values[:, 0].tolist()
    return {cells.values(int(r)): u for r, u in zip(part.ranks, units, strict=True)}


def test_a_device_is_in_one_bucket_per_slice_and_metric(catalog: Catalog) -> None:
    """Two drives in two regions: 2 trips, 16 km and 32 minutes; 4, 16 and 20 quarters of a
    doubling above 1."""
    found = buckets(catalog, BY_ACTIVITY, trip(), trip(region="1003", direction="inbound"))
    assert list(found) == [
        ("driving", "num_trips", 4),
        ("driving", "distance_km", 16),
        ("driving", "duration_min", 20),
    ]


def test_its_rows_share_one_device(catalog: Catalog) -> None:
    """k rows of 1, clipped jointly at 1, are 1/k each: K − k/2 − 1 units over k."""
    one = buckets(catalog, SliceNorms((), dict.fromkeys(METRICS, 1.0)), trip())
    assert set(one.values()) == {round((GRID - 2.5) / 3)}
    two = buckets(catalog, BY_ACTIVITY, trip(), trip(activity="bus"))
    assert len(two) == 6
    assert set(two.values()) == {round((GRID - 4) / 6)}


def test_how_much_a_device_has_does_not_show_in_what_it_counts(catalog: Catalog) -> None:
    little = buckets(catalog, BY_ACTIVITY, trip())
    much = buckets(catalog, BY_ACTIVITY, *[trip(distance_km=900.0)] * 50)
    assert list(little.values()) == list(much.values())
    assert not set(little) & set(much)


@pytest.mark.parametrize(("lowest", "bucket"), [(1e9, 0), (1e-9, 95), (16.0, 0), (15.9, 0), (8, 4)])
def test_what_lies_beyond_the_ends_counts_in_them(
    catalog: Catalog, lowest: float, bucket: int
) -> None:
    norms = SliceNorms((), {**dict.fromkeys(METRICS, 1.0), "distance_km": lowest})
    found = buckets(catalog, norms, trip(distance_km=16.0))
    assert ("distance_km", bucket) in found


def test_a_bucket_begins_at_its_lower_edge(catalog: Catalog) -> None:
    """1.9 lies 3.7 quarters of a doubling above 1."""
    norms = SliceNorms((), dict.fromkeys(METRICS, 1.0))
    assert ("distance_km", 3) in buckets(catalog, norms, trip(distance_km=1.9))


def test_a_norm_has_no_sign(catalog: Catalog) -> None:
    """Of −5 and 3 it is 8."""
    sql = (
        "SELECT region, activity, direction, privacy_time_unit, 0, 0, SUM(distance_km - 10) "
        "FROM trips GROUP BY 1, 2, 3, 4"
    )
    task = calibration(catalog, SliceNorms((), dict.fromkeys(METRICS, 1.0)), sql=sql)
    events = {"trips": [trip(distance_km=5.0), trip(distance_km=13.0, region="1003")]}
    assert execute(task, events, WEEK, catalog).ranks.tolist() == [2 * BUCKETS + 12]


def test_a_metric_of_nothing_has_no_bucket(catalog: Catalog) -> None:
    found = buckets(catalog, BY_ACTIVITY, trip(distance_km=0.0))
    assert [metric for _, metric, _ in found] == ["num_trips", "duration_min"]


def test_the_scaled_norm_is_of_everything(catalog: Catalog) -> None:
    """1 + 8 + 16 of driving and of the bus, each over 50: 1, which is 12 doublings above 2^−12."""
    found = buckets(catalog, scaled(catalog, 50.0), trip(), trip(activity="bus"))
    assert found == {(48,): GRID - 2}


def test_buckets_are_96_quarters_of_a_doubling() -> None:
    assert len(edges(1.0)) == BUCKETS + 1
    assert edges(0.5)[[0, 4, 96]].tolist() == [0.5, 1.0, 0.5 * 2**24]


def test_nothing_makes_the_zero_update(catalog: Catalog) -> None:
    for norms in (BY_ACTIVITY, scaled(catalog, 1.0)):
        part = execute(calibration(catalog, norms), {}, WEEK, catalog)
        assert len(part.ranks) == 0
        assert part.values.shape == (0, 1)


def test_what_is_endless_makes_the_zero_update(catalog: Catalog) -> None:
    huge = [trip(distance_km=1.7e308), trip(distance_km=1.7e308, region="1003")]
    for norms in (BY_ACTIVITY, scaled(catalog, 1.0)):
        assert len(execute(calibration(catalog, norms), {"trips": huge}, WEEK, catalog).ranks) == 0


NUMBERS = st.one_of(st.floats(0, 1e300), st.sampled_from([0.0, 5e-324, 1.0, 1.7e308]))
TRIPS = st.lists(
    st.builds(
        trip,
        region=st.sampled_from(["1001", "1003", "nowhere"]),
        activity=st.sampled_from(["driving", "bus", "walking", "cycling", "sailing"]),
        distance_km=NUMBERS,
        duration_min=NUMBERS,
    ),
    max_size=30,
)


@given(TRIPS, st.floats(1e-9, 1e12), st.booleans(), st.integers(1, 27))
def test_one_device_moves_the_sums_by_at_most_the_bound(
    catalog: Catalog, trips: list[Event], size: float, of_slices: bool, max_rows: int
) -> None:
    """Whatever the rows: L1 ≤ K, at most one bucket per slice and metric, within the domain."""
    norms: Norms = scaled(catalog, size)
    if of_slices:
        norms = SliceNorms(("activity",), dict.fromkeys(METRICS, size))
    task = calibration(catalog, norms, max_rows=max_rows)
    part: Part = execute(task, {"trips": trips}, WEEK, catalog)
    assert 0 <= np.abs(part.values).sum() <= GRID
    assert (part.values >= 0).all()
    assert (part.ranks < task.cells).all()
    assert len(part.ranks) <= max_rows
    assert len(set((part.ranks // BUCKETS).tolist())) == len(part.ranks)


@pytest.mark.parametrize(
    ("norms", "words"),
    [
        (SliceNorms(("town",), dict.fromkeys(METRICS, 1.0)), "not a key"),
        (SliceNorms((), {"num_trips": 1.0}), "no lowest edge"),
        (SliceNorms((), dict.fromkeys(METRICS, float("nan"))), "positive number"),
        (ScaledNorm((), {}), "nothing for the slice"),
    ],
)
def test_a_device_refuses_a_step_without_its_numbers(
    catalog: Catalog, norms: Norms, words: str
) -> None:
    task = calibration(catalog, BY_ACTIVITY)
    step = msgspec.structs.replace(task.step, norms=norms)
    with pytest.raises(Problem, match=words):
        PreparedTask(msgspec.structs.replace(task, step=step), catalog)


def test_a_device_refuses_a_task_that_declares_other_cells_than_its_step(catalog: Catalog) -> None:
    task = calibration(catalog, BY_ACTIVITY)
    for changes in ({"keys": task.keys[1:]}, {"metrics": ("trips",)}, {"keys": task.keys[::-1]}):
        with pytest.raises(Problem, match="does not declare what its step makes"):
            PreparedTask(msgspec.structs.replace(task, **changes), catalog)


def test_an_unknown_step_is_no_client_task(catalog: Catalog) -> None:
    body = calibration(catalog, BY_ACTIVITY).canonical()
    assert msgspec.json.decode(body, type=ClientTask).canonical() == body
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(body.replace(b"slice_norms", b"every_event"), type=ClientTask)


def test_a_task_without_a_step_says_nothing_of_it(catalog: Catalog) -> None:
    assert b"step" not in client_task(catalog).canonical()
