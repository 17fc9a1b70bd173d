"""Many releases at once, by the very code of one: each `release` of the domain is one of them.

Every cell gets its own noise and each release has its own cells, so a release of 20,000 copies of
a small task is 20,000 independent releases of it. What is published of each becomes one field per
number: noised integers, values, half-widths, reasons, sums over keys, ratios, emissions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.ondevice.bounding import bound_one
from aggregation.protocol.anonymization import (
    GRID,
    BudgetSplit,
    GroupScaling,
    Mechanism,
    Rotated,
    Suppression,
)
from aggregation.protocol.part import Part
from aggregation.protocol.server_config import Derived
from aggregation.release.emissions import emission_tables
from aggregation.release.estimates import Estimates, cell_estimates
from aggregation.release.marginals import marginal
from aggregation.release.noise import Draws, add_noise
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe
from aggregation.release.tables import Table, table
from tests.aggregation.release.examples import recipe, report_of
from tests.privacy.lower_bound import Fields

EPSILON = "1"
METRICS = ("num_trips", "distance_km")
DOMAINS = {"activity": ("walking", "driving"), "direction": ("within", "outbound")}
SCALES = {"walking": {"num_trips": 8.0, "distance_km": 12.0},
          "driving": {"num_trips": 24.0, "distance_km": 410.0}}  # fmt: skip
MECHANISMS: dict[str, Mechanism] = {
    "group_scaling": GroupScaling(("activity",), SCALES, 3.0),
    "budget_split": BudgetSplit(("activity",), SCALES),
    "rotated": Rotated(
        ("activity",),
        {"walking": ((0.04, 0.0), (-0.01, 0.03)), "driving": ((0.01, 0.0), (-0.004, 0.001))},
        {"walking": (1.05, 1.1), "driving": (1.02, 1.08)},
    ),
}
RATIO = Derived(name="km_per_trip", numerator="distance_km", denominator="num_trips")


@dataclass(frozen=True)
class Neighbours:
    """Devices of a data set, and the one that is in the other data set as well."""

    name: str
    others: Sequence[Part]
    device: Part


def small(kind: str, **changes: object) -> Recipe:
    domains = changes.pop("domains", DOMAINS)
    defaults = {
        "mechanism": MECHANISMS[kind], "metrics": METRICS, "domains": domains, "derived": (RATIO,),
        "epsilon": EPSILON, "suppression": Suppression(max_relative_noise=0.25),
    }  # fmt: skip
    return recipe(**{**defaults, **changes})


@lru_cache
def wide(kind: str, count: int) -> Recipe:
    return small(kind, domains={"release": tuple(range(count)), **DOMAINS})


def neighbours(kind: str) -> list[Neighbours]:
    """Data sets on which the published fields tell most about one device.

    The device is as large as it can be: its whole bound lies in one coordinate, or where each
    (slice, metric) is bounded on its own, it fills them all.
    """
    made = small(kind)
    rows = np.array([0, 2]) if kind == "budget_split" else np.array([0])
    values = np.array([[1e6, 1e6]] * len(rows)) if kind == "budget_split" else np.array([[1e9, 0]])
    device = bound_one(made.arithmetic, rows, values, max_rows=8)
    many = [_everywhere(made)] * 120
    return [
        Neighbours("far above suppression", many, device),
        Neighbours("at the edge of suppression", [_everywhere(made)] * 40, device),
        Neighbours("in an empty cell", [], device),
    ]


def _everywhere(made: Recipe) -> Part:
    """Someone who fills every cell alike."""
    share = GRID // (made.cells.size * len(METRICS)) * 8 // 10
    values = np.full((made.cells.size, len(METRICS)), share, dtype=np.int64)
    return Part(np.arange(made.cells.size, dtype=np.uint32), values)


def summed(made: Recipe, parts: Sequence[Part]) -> np.ndarray:
    core = GroupBySum(Params.of(made.config).without_threshold())
    for part in parts:
        core.accumulate(part)
    return core.report().sums


def repeated(sums: np.ndarray, count: int) -> np.ndarray:
    return np.tile(sums, (count, 1))


def released(made: Recipe, sums: np.ndarray, count: int, draws: Draws | None = None) -> Fields:
    """Everything that is published of `count` releases of these sums."""
    return published(made, add_noise(report_of(repeated(sums, count)), made, draws=draws), count)


def published(made: Recipe, noised: Noised, count: int) -> Fields:
    fields = {f"noised {n}": column for n, column in enumerate(noised.sums.reshape(count, -1).T)}
    cells = cell_estimates(noised, made)
    fields |= of_estimates(made, cells, count)
    fields |= of_estimates(made, marginal(noised, made, ("release",)), count)
    fields |= of_estimates(made, marginal(noised, made, ("release", "activity")), count)
    for found in emission_tables(cells, made, only=[made.cells.names, ("release",)]):
        fields |= of_table(found, count)
    return fields


def of_estimates(made: Recipe, estimates: Estimates, count: int) -> Fields:
    return of_table(table(estimates, made.config), count)


def of_table(found: Table, count: int) -> Fields:
    by = "+".join(found.cells.names[1:]) or "all"
    columns = {"reason": found.reasons.astype(np.int64)}
    for column in found.columns:
        columns[column.name] = column.values
        columns[f"{column.name} half-width"] = column.half_width
    return {
        f"{name} by {by}, row {row}": values
        for name, whole in columns.items()
        for row, values in enumerate(whole.reshape(count, -1).T)
    }
