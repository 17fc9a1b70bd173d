"""Client tasks over the shipped streams, and events for them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from aggregation.ondevice.events import Event
from aggregation.protocol.anonymization import JointClipping
from aggregation.protocol.client_task import ClientTask, Eligibility, Key, Schedule, digest_of_name
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit, Window

WEEK = Window.parse("2026-11-09", Unit.WEEK)
WEEKLY_TRIPS = """
SELECT region, activity, direction, privacy_time_unit,
       COUNT(*) AS num_trips, SUM(distance_km) AS distance_km, SUM(duration_min) AS duration_min
FROM trips GROUP BY region, activity, direction, privacy_time_unit
"""


def key(catalog: Catalog, stream: str, column: str) -> Key:
    found = catalog.stream(stream)
    declared = found.column(column) if found else None
    assert declared is not None
    assert declared.domain is not None
    return Key(name=column, domain=declared.domain, count=len(catalog.domain(declared.domain)))


def client_task(catalog: Catalog, **changes: Any) -> ClientTask:
    """The weekly-trips task, with what a test changes about it."""
    reads = changes.pop(
        "reads", {"trips": ("region", "activity", "direction", "distance_km", "duration_min")}
    )
    keys = changes.pop("keys", ("region", "activity", "direction"))
    defaults: dict[str, Any] = {
        "task": digest_of_name("weekly-trips"),
        "reads": reads,
        "streams": {s.name: s.sha256 for s in catalog if s.name in reads},
        "populations": ("all",),
        "window_unit": Unit.WEEK,
        "sql": WEEKLY_TRIPS,
        "keys": tuple(
            k if isinstance(k, Key) else key(catalog, next(iter(reads)), k) for k in keys
        ),
        "metrics": ("num_trips", "distance_km", "duration_min"),
        "epsilon": "2",
        "mechanism": JointClipping(clip=1024.0),
        "max_rows": 64,
        "eligibility": Eligibility(min_separation_windows=1, require_events=True),
        "schedule": Schedule(max_runs_per_day=1, conditions=()),
    }
    return ClientTask(**{**defaults, **changes})


def trip(
    *,
    after: timedelta = timedelta(hours=1),
    region: str = "1001",
    activity: str = "driving",
    direction: str = "within",
    distance_km: float = 8.0,
    duration_min: float = 16.0,
    utc_offset: int = 0,
) -> Event:
    """A trip some time after the week began."""
    moment = (WEEK.start + after).timestamp()
    values = (region, "DE", activity, direction, distance_km, duration_min)
    return Event(moment, utc_offset, values)


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
