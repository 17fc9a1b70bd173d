"""Public parameters of the four mechanisms, as a spec states them and devices receive them.

A slice is named by its key values joined with a slash, in the order of `scale_by`, `slice_by` or
`by`: `driving`, or `driving/within`; over no columns there is one slice, `all`. Every slice of
the domain must be present. What the parameters mean, and why they are safe to publish, stands
beside each mechanism's arithmetic.
"""

from decimal import Decimal

import msgspec

# Slice → metric → a positive number in the metric's unit.
Scales = dict[str, dict[str, float]]

# Units of the integer grid that stand for the clip bound: every update has Σ|q| ≤ GRID.
GRID = 2**20


class JointClipping(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="joint_clipping", tag_field="kind"
):
    """One L1 bound over all cells and metrics of a device (the paper's first baseline)."""

    clip: float


class BudgetSplit(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="budget_split", tag_field="kind"
):
    """Each (slice, metric) bounded on its own, with its share of ε (the second baseline)."""

    slice_by: tuple[str, ...]
    scales: Scales


class GroupScaling(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="group_scaling", tag_field="kind"
):
    """Each (slice, metric) scaled by its size, then one joint bound (the paper's mechanism)."""

    scale_by: tuple[str, ...]
    scales: Scales
    clip: float


class Rotated(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="rotated", tag_field="kind"
):
    """Metrics of a cell mixed by a public matrix per slice before one joint bound.

    `basis` rows and columns, and `correction` entries, follow the order of the task's metrics.
    """

    by: tuple[str, ...]
    basis: dict[str, tuple[tuple[float, ...], ...]]
    correction: dict[str, tuple[float, ...]]


Mechanism = JointClipping | BudgetSplit | GroupScaling | Rotated


class ClipTerms(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How far clipping may have moved one metric, at 95 %, as shares of a value."""

    # A cell of n events is off by random/√n: devices lose to the clip each on their own account.
    random: Decimal
    # Whether the cells of one device lose together: 0 for each by chance, 1 for all alike.
    together: Decimal = Decimal(1)
    # What does not shrink with more events, such as a loss that no correction undoes.
    systematic: Decimal = Decimal(0)
    # Whether that share is the same in all kinds of cells, or each has its own, by chance: 1 or 0.
    alike: Decimal = Decimal(1)


class ClipUncertainty(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is known, from proxy or public data, of what the clip took away.

    Devices do not need it: it widens intervals and moves no value. So it is part of the spec and
    of the server config, which the approval signs for, and not of the client task.
    """

    # The metric that counts events.
    count: str
    metrics: dict[str, ClipTerms]
    # Where the numbers come from, in a sentence for the guarantee card.
    source: str


class Suppression(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Hide a released cell whose noise is large against its noised value."""

    max_relative_noise: float = 0.05
    # The metrics that must pass, or `all` of them.
    metrics: str | tuple[str, ...] = "all"
