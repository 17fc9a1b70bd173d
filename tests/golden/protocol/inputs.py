"""What all vectors are made from: fixed keys, fixed ids, a small catalog and a few client tasks.

The private keys are counting bytes, so that anyone can type them in. They are for tests only.
"""

from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from aggregation.protocol.anonymization import (
    BudgetSplit,
    GroupScaling,
    JointClipping,
    Mechanism,
    Rotated,
)
from aggregation.protocol.approval import Approval, approval_of
from aggregation.protocol.client_task import ClientTask, Eligibility, Key, Schedule, digest_of_name
from aggregation.protocol.domains import Domain
from aggregation.protocol.shipped import ACTIVITIES, shipped_catalog
from aggregation.protocol.windows import Unit

APPROVAL_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(0x00, 0x20)))
WORKER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(0x20, 0x40)))
SESSION_KEY = X25519PrivateKey.from_private_bytes(bytes(range(0x40, 0x60)))
EPHEMERAL = bytes(range(0x60, 0x80))
TOKEN_KEY = bytes(range(0x80, 0xA0))
SESSION = bytes(range(0xA0, 0xB0)).hex()
UPDATE = bytes(range(0xC0, 0xC8)).hex()

CATALOG = shipped_catalog(
    regions=["2950159", "2867714", "2988507", "2657896"], countries=["DE", "FR", "CH"]
)
METRICS = ("num_trips", "distance_km", "duration_min")
SQL = (
    "SELECT s1.region AS region, s1.activity AS activity, "
    "s1.privacy_time_unit AS privacy_time_unit, COUNT(*) AS num_trips, "
    "SUM(s1.distance_km) AS distance_km, SUM(s1.duration_min) AS duration_min "
    "FROM trips AS s1 GROUP BY s1.region, s1.activity, s1.privacy_time_unit"
)
SCALES = {
    str(activity): {"num_trips": 8.0 + n, "distance_km": 50.0 * (n + 1), "duration_min": 90.0}
    for n, activity in enumerate(ACTIVITIES)
}
MIXING = ((0.05, 0.0, 0.0), (-0.02, 0.005, 0.0), (-0.03, -0.001, 0.002))
MECHANISMS: dict[str, Mechanism] = {
    "joint_clipping": JointClipping(clip=600.0),
    "budget_split": BudgetSplit(slice_by=("activity",), scales=SCALES),
    "group_scaling": GroupScaling(scale_by=("activity",), scales=SCALES, clip=2.5),
    "rotated": Rotated(by=(), basis={"all": MIXING}, correction={"all": (1.0, 1.1, 1.2)}),
}


def key(column: str, *, stream: str = "trips") -> Key:
    declared = CATALOG.stream(stream).column(column)  # type: ignore[union-attr]
    domain = CATALOG.domain(declared.domain or "")  # type: ignore[union-attr]
    return Key(name=column, domain=domain.sha256, count=len(domain))


def choices(name: str, *values: str) -> Key:
    """A key made by a CASE: its values travel inside the client task."""
    domain = Domain(values)
    return Key(name=name, domain=domain.sha256, count=len(values), values=values)


def client_task(**changes: Any) -> ClientTask:
    defaults: dict[str, Any] = {
        "task": digest_of_name("weekly-trips"),
        "reads": {"trips": ("activity", "distance_km", "duration_min", "privacy_time_unit",
                            "region")},
        "streams": {"trips": CATALOG.stream("trips").sha256},  # type: ignore[union-attr]
        "populations": ("all",),
        "window_unit": Unit.WEEK,
        "sql": SQL,
        "keys": (key("region"), key("activity")),
        "metrics": METRICS,
        "epsilon": "2",
        "mechanism": MECHANISMS["group_scaling"],
        "max_rows": 4,
        "eligibility": Eligibility(min_separation_windows=1, require_events=True),
        "schedule": Schedule(max_runs_per_day=1, conditions=("idle",)),
    }  # fmt: skip
    return ClientTask(**{**defaults, **changes})


TASK = client_task()


def approval() -> Approval:
    return approval_of(
        spec="5e" * 32,
        client_task=TASK.sha256,
        server_config="5c" * 32,
        author="a1b2c3d4e5f60718",
        approver="18076f5e4d3c2b1a",
        approved_at=datetime(2026, 11, 1, 9, 30, 15, 250000, tzinfo=UTC),
    )
