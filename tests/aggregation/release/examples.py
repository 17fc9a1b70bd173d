"""A small weekly-trips release to test with: 4 regions, 2 activities, 2 directions."""

from decimal import Decimal
from typing import Any

import numpy as np

from aggregation.core.group_by_sum import Report
from aggregation.protocol.anonymization import (
    GRID,
    BudgetSplit,
    ClipTerms,
    ClipUncertainty,
    GroupScaling,
    JointClipping,
    Mechanism,
    Rotated,
    Suppression,
)
from aggregation.protocol.client_task import Key
from aggregation.protocol.domains import Domain
from aggregation.protocol.server_config import Aggregation, ServerConfig
from aggregation.protocol.windows import Unit
from aggregation.release.recipe import Recipe

METRICS = ("num_trips", "distance_km", "duration_min")
SCALES = {
    "walking": {"num_trips": 8.0, "distance_km": 12.0, "duration_min": 160.0},
    "driving": {"num_trips": 24.0, "distance_km": 410.0, "duration_min": 620.0},
}
DOMAINS: dict[str, tuple[str, ...]] = {
    "region": ("101", "102", "103", "104"),
    "activity": ("walking", "driving"),
    "direction": ("within", "outbound"),
}
KINDS = ("joint_clipping", "budget_split", "group_scaling", "rotated")


def clip_uncertainty(
    random: float, *, together: float = 1, systematic: float = 0, alike: float = 1
) -> ClipUncertainty:
    """The same terms for every metric."""
    terms = ClipTerms(
        random=Decimal(str(random)),
        together=Decimal(str(together)),
        systematic=Decimal(str(systematic)),
        alike=Decimal(str(alike)),
    )
    return ClipUncertainty(
        count="num_trips", metrics=dict.fromkeys(METRICS, terms), source="A proxy of this test"
    )


class Silent:
    """Noise off. It lives in the tests, and nowhere else."""

    def draw(self, count: int) -> np.ndarray:
        return np.zeros(count, dtype=np.int64)


def mechanism(kind: str, *, correction: float = 1.1) -> Mechanism:
    if kind == "joint_clipping":
        return JointClipping(clip=900.0)
    if kind == "budget_split":
        return BudgetSplit(slice_by=("activity",), scales=SCALES)
    if kind == "group_scaling":
        return GroupScaling(scale_by=("activity",), scales=SCALES, clip=3.0)
    return Rotated(
        by=("activity",),
        basis={name: _basis(SCALES[name]) for name in SCALES},
        correction=dict.fromkeys(SCALES, (correction, correction + 0.05, correction)),
    )


def _basis(scales: dict[str, float]) -> tuple[tuple[float, ...], ...]:
    trips, km, minutes = (3 * scales[m] for m in METRICS)
    return (
        (1 / trips, 0.0, 0.0),
        (-0.3 / trips, 1 / km, 0.0),
        (-0.2 / trips, -0.3 / km, 1 / minutes),
    )


def server_config(kind: str = "group_scaling", **changes: Any) -> ServerConfig:
    domains = changes.pop("domains", DOMAINS)
    defaults: dict[str, Any] = {
        "client_task": "c" * 64,
        "streams": ("trips",),
        "window_unit": Unit.WEEK,
        "grace_hours": 168,
        "keys": tuple(
            Key(name=n, domain=Domain(v).sha256, count=len(v), values=v) for n, v in domains.items()
        ),
        "metrics": METRICS,
        "max_rows": 64,
        "aggregation": Aggregation(
            min_contributions=1000, max_contributions=10_000, max_session_minutes=60
        ),
        "epsilon": "2",
        "mechanism": mechanism(kind),
        "suppression": Suppression(max_relative_noise=0.05),
        "audience": "internal",
    }
    return ServerConfig(**{**defaults, **changes})


def recipe(kind: str = "group_scaling", **changes: Any) -> Recipe:
    return Recipe.of(server_config(kind, **changes), {}.__getitem__)


def report_of(sums: np.ndarray, contributions: int = 5000) -> Report:
    return Report(contributions, np.ascontiguousarray(sums, dtype=np.int64))


def some_sums(made: Recipe, *, devices: float = 2000.0, seed: int = 1) -> np.ndarray:
    """Sums as of about so many devices in each cell, in grid units."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, int(devices * GRID / 10), size=made.shape)
