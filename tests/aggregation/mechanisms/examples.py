"""A small task and valid parameters of all four mechanisms for it."""

from collections.abc import Sequence

from aggregation.protocol.anonymization import (
    BudgetSplit,
    GroupScaling,
    JointClipping,
    Mechanism,
    Rotated,
)
from aggregation.protocol.client_task import Key
from aggregation.protocol.domains import Domain
from aggregation.protocol.ranks import Cells
from aggregation.protocol.shipped import ACTIVITIES, DIRECTIONS

REGIONS = Domain([str(number) for number in range(1001, 1013)])
METRICS = ("num_trips", "distance_km", "duration_min")
CELLS = Cells(("region", "activity", "direction"), (REGIONS, ACTIVITIES, DIRECTIONS))
KEYS = tuple(
    Key(name=name, domain=domain.sha256, count=len(domain))
    for name, domain in zip(CELLS.names, CELLS.domains, strict=True)
)
DOMAINS = {domain.sha256: domain for domain in CELLS.domains}
SIZES = (24.0, 410.0, 620.0)


def mechanisms(
    metrics: Sequence[str] = METRICS, *, wide: float = 1.0, correction: float = 1.0
) -> dict[str, Mechanism]:
    """One of each kind; `wide` widens every bound, so that clipping does not bite."""
    sizes = [SIZES[i % 3] * wide for i in range(len(metrics))]
    scales = {str(a): dict(zip(metrics, sizes, strict=True)) for a in ACTIVITIES}
    slices = [f"{a}/{d}" for a in ACTIVITIES for d in DIRECTIONS]
    return {
        "joint_clipping": JointClipping(clip=sum(sizes)),
        "budget_split": BudgetSplit(slice_by=("activity",), scales=scales),
        "group_scaling": GroupScaling(scale_by=("activity",), scales=scales, clip=3.1),
        "rotated": Rotated(
            by=("activity", "direction"),
            basis={name: mixing(sizes, tilt=1 + i / 100) for i, name in enumerate(slices)},
            correction={name: (correction,) * len(metrics) for name in slices},
        ),
    }


def mixing(sizes: Sequence[float], *, tilt: float = 1.0) -> tuple[tuple[float, ...], ...]:
    """A triangular basis: each metric less a share of the ones before it."""
    count = len(sizes)
    return tuple(
        tuple(
            (tilt if i == j else -0.3 / (i + 1) if j < i else 0.0) / (3 * sizes[j])
            for j in range(count)
        )
        for i in range(count)
    )


KINDS = tuple(mechanisms())
