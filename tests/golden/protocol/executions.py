"""Runs of client tasks: events in, the query's rows, encoded numbers, and the part that is sent."""

from typing import Any

import msgspec
import numpy as np

from aggregation.mechanisms import build_for
from aggregation.ondevice.events import Event, event_columns
from aggregation.ondevice.execute import PreparedTask
from aggregation.ondevice.sandbox import QueryFailed
from aggregation.protocol.anonymization import JointClipping
from aggregation.protocol.client_task import ClientTask, Step
from aggregation.protocol.ranks import Cells
from aggregation.protocol.steps import Norms, ScaledNorm, SliceNorms
from aggregation.protocol.windows import Unit, Window
from tests.golden.protocol.inputs import (
    CATALOG,
    MECHANISMS,
    METRICS,
    SCALES,
    choices,
    client_task,
    key,
)

MONDAY = 1_794_182_400  # 2026-11-09T00:00:00Z
HOUR = 3600
COLUMNS = event_columns(CATALOG.stream("trips"))  # type: ignore[arg-type]

Trip = tuple[int, str, str, float, float]
TRIPS: list[Trip] = [
    (8 * HOUR, "2950159", "cycling", 4.5, 18.0),
    (9 * HOUR, "2950159", "cycling", 6.25, 22.0),
    (30 * HOUR, "2867714", "driving", 38.0, 41.0),
    (31 * HOUR, "2950159", "walking", 0.75, 11.0),
]
HEAVY: list[Trip] = [(HOUR, "2988507", "flying", 5400.0, 610.0), *TRIPS]
BY_HOUR = (
    "SELECT s1.hour_of_day AS hour_of_day, s1.day_of_week AS day_of_week, "
    "s1.privacy_time_unit AS privacy_time_unit, COUNT(*) AS n "
    "FROM trips AS s1 GROUP BY s1.hour_of_day, s1.day_of_week, s1.privacy_time_unit"
)
BY_KIND = (
    "SELECT CASE WHEN s1.distance_km < 5 THEN 'short' ELSE 'long' END AS kind, "
    "s1.privacy_time_unit AS privacy_time_unit, COUNT(*) AS n "
    "FROM trips AS s1 GROUP BY kind, s1.privacy_time_unit"
)
PLAIN = "FROM trips AS s1 GROUP BY s1.region, s1.activity, s1.privacy_time_unit"
ODD = (
    "SELECT CASE WHEN s1.activity = 'walking' THEN 'elsewhere' ELSE s1.region END AS region, "
    "s1.activity AS activity, s1.privacy_time_unit AS privacy_time_unit, COUNT(*) AS num_trips, "
    f"NULLIF(SUM(s1.distance_km), 38.0) AS distance_km, 0.0 - 2.5 AS duration_min {PLAIN}"
)
TEXT = (
    "SELECT s1.region AS region, s1.activity AS activity, "
    "s1.privacy_time_unit AS privacy_time_unit, COUNT(*) AS num_trips, "
    f"SUM(s1.distance_km) AS distance_km, 'many' AS duration_min {PLAIN}"
)
HALVES = (
    "SELECT s1.region AS region, s1.activity AS activity, "
    "s1.privacy_time_unit AS privacy_time_unit, 0.5 AS num_trips, 1.5 AS distance_km, "
    f"-2.5 AS duration_min {PLAIN}"
)
ONE_COUNT: dict[str, Any] = {"metrics": ("n",), "mechanism": MECHANISMS["joint_clipping"]}


LOWEST = {"num_trips": 0.0625, "distance_km": 0.015625, "duration_min": 0.25}


def calibration(norms: Norms) -> ClientTask:
    """A task with a built-in step after the same query."""
    step = Step(keys=(key("region"), key("activity")), metrics=METRICS, norms=norms)
    return client_task(
        keys=step.made_keys,
        metrics=step.made_metrics,
        mechanism=JointClipping(clip=1.0),
        max_rows=27,
        step=step,
    )


def _cases() -> dict[str, tuple[ClientTask, list[Trip], int]]:
    """Name → task, trips, and how many seconds local time was ahead of UTC."""
    joint = MECHANISMS["joint_clipping"]
    return {
        "group scaling": (client_task(), TRIPS, 0),
        "group scaling, clipped": (client_task(), HEAVY, 0),
        "joint clipping": (client_task(mechanism=joint), TRIPS, 0),
        "joint clipping, clipped": (client_task(mechanism=joint), HEAVY, 0),
        "budget split, one share clipped": (
            client_task(mechanism=MECHANISMS["budget_split"]),
            HEAVY,
            0,
        ),
        "rotated": (client_task(mechanism=MECHANISMS["rotated"]), TRIPS, 0),
        "rotated, clipped": (client_task(mechanism=MECHANISMS["rotated"]), HEAVY, 0),
        "more cells than rows": (client_task(max_rows=2), HEAVY, 0),
        "no events": (client_task(), [], 0),
        "events of other windows": (
            client_task(),
            [(-1, *TRIPS[0][1:]), (7 * 24 * HOUR, *TRIPS[1][1:])],
            0,
        ),
        "a key outside its domain is dropped, NULL counts as 0": (client_task(sql=ODD), TRIPS, 0),
        "text as a metric makes the zero update": (client_task(sql=TEXT), TRIPS, 0),
        "halves are rounded to even": (
            client_task(sql=HALVES, mechanism=type(joint)(clip=float(2**20))),
            TRIPS[:1],
            0,
        ),
        "stamped columns in local time": (
            client_task(
                sql=BY_HOUR,
                reads={"trips": ("day_of_week", "hour_of_day", "privacy_time_unit")},
                keys=(key("hour_of_day"), key("day_of_week")),
                **ONE_COUNT,
            ),
            TRIPS,
            -9 * HOUR,
        ),
        "a key made by CASE": (
            client_task(
                sql=BY_KIND,
                reads={"trips": ("distance_km", "privacy_time_unit")},
                keys=(choices("kind", "long", "short"),),
                **ONE_COUNT,
            ),
            TRIPS,
            0,
        ),
        "a step: norms of slices": (
            calibration(SliceNorms(by=("activity",), lowest=LOWEST)),
            HEAVY,
            0,
        ),
        "a step: norms of slices, no events": (
            calibration(SliceNorms(by=("activity",), lowest=LOWEST)),
            [],
            0,
        ),
        "a step: norms over all slices, below the first bucket and beyond the last": (
            calibration(SliceNorms(by=(), lowest={**LOWEST, "num_trips": 64.0,
                                                  "distance_km": 1e-9})),
            TRIPS,
            0,
        ),
        "a step: the scaled norm": (
            calibration(ScaledNorm(by=("activity",), scales=SCALES)),
            HEAVY,
            0,
        ),
    }  # fmt: skip


def executions() -> list[dict[str, Any]]:
    week = Window.parse("2026-11-09", Unit.WEEK)
    return [
        {"name": name, "window": week.id, **_run(task, trips, offset, week)}
        for name, (task, trips, offset) in _cases().items()
    ]


def _run(task: ClientTask, trips: list[Trip], offset: int, week: Window) -> dict[str, Any]:
    events = [_event(trip, offset) for trip in trips]
    prepared = PreparedTask(task, CATALOG)
    part = prepared.execute({"trips": events}, week)
    named = [dict(zip(COLUMNS, event.values, strict=True)) for event in events]
    return {
        "client_task": msgspec.to_builtins(task),
        "events": [
            {"time": event.time, "utc_offset": offset, **columns}
            for event, columns in zip(events, named, strict=True)
        ],
        **_before_step(task, events, week),
        **_between(task, prepared, events, week),
        "part": {"ranks": part.ranks.tolist(), "values": part.values.tolist()},
    }


def _before_step(task: ClientTask, events: list[Event], week: Window) -> dict[str, Any]:
    """The query's own cells, for a task whose step makes others of them."""
    if task.step is msgspec.UNSET:
        return {}
    ranks, values = PreparedTask(client_task(), CATALOG)._result({"trips": events}, week)
    return {"query": {"ranks": ranks.tolist(), "metrics": values.tolist()}}


def _between(
    task: ClientTask, prepared: PreparedTask, events: list[Event], week: Window
) -> dict[str, Any]:
    """What lies between the events and the part; nothing where the query's result is no result."""
    try:
        ranks, values = prepared._result({"trips": events}, week)
    except QueryFailed:
        return {"ranks": None, "metrics": None, "encoded": None}
    arithmetic = build_for(task.mechanism, Cells.of(task.keys, CATALOG.domain), task.metrics)
    encoded = arithmetic.encode(ranks, values) if len(ranks) else np.empty((0, 0))
    return {"ranks": ranks.tolist(), "metrics": values.tolist(), "encoded": encoded.tolist()}


def _event(trip: Trip, offset: int) -> Event:
    after, region, activity, distance, duration = trip
    return Event(float(MONDAY + after), offset, (region, "DE", activity, "within", distance,
                                                 duration))  # fmt: skip
