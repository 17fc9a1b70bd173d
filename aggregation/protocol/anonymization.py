"""Public parameters of the four mechanisms, as a spec states them and devices receive them.

A slice is named by its key values joined with a slash, in the order of `scale_by`, `slice_by` or
`by`: `driving`, or `driving/within`; over no columns there is one slice, `all`. Every slice of
the domain must be present. What the parameters mean, and why they are safe to publish, stands
beside each mechanism's arithmetic.
"""

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


class Suppression(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Hide a released cell whose noise is large against its noised value."""

    max_relative_noise: float = 0.05
    # The metrics that must pass, or `all` of them.
    metrics: str | tuple[str, ...] = "all"
