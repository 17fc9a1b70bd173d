"""One door to all fits: a mechanism's name and a proxy population in, its parameters out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from aggregation.calibration.clips import clip_by_grid, clip_by_quantile, norms_of
from aggregation.calibration.rotating import fitted_rotation
from aggregation.calibration.scales import Scaled
from aggregation.calibration.weighing import Weights
from aggregation.errors import Problem
from aggregation.protocol.anonymization import BudgetSplit, GroupScaling, JointClipping, Mechanism

# The paper's two baselines, its own mechanism with two ways to a clip bound, and ours.
NAMES: Final = (
    "joint_clipping",
    "budget_split",
    "group_scaling_q98",
    "group_scaling_grid",
    "rotated",
)

# Called now and then with the share that is done, 0 to 1; what it raises ends the fit.
Watch = Callable[[float], None]


def fitted(
    name: str,
    scaled: Scaled,
    weights: Weights,
    *,
    epsilon: float,
    rotate_by: Sequence[str],
    watch: Watch = lambda _: None,
) -> Mechanism:
    """The parameters of one of `NAMES` that suit this population at this ε."""
    proxy, by = scaled.proxy, scaled.by
    watch(0.0)
    match name:
        case "joint_clipping":
            same = np.ones((1, len(proxy.metrics)))
            return JointClipping(clip_by_grid(proxy, weights, same, epsilon=epsilon))
        case "budget_split":
            return BudgetSplit(by, scaled.named)
        case "group_scaling_q98":
            clip = clip_by_quantile(norms_of(proxy, scaled.by_row))
            return GroupScaling(by, scaled.named, clip)
        case "group_scaling_grid":
            return GroupScaling(by, scaled.named, _grid(scaled, weights, epsilon))
        case "rotated":
            own = Scaled.of(proxy, rotate_by)
            clip = _grid(own, weights, epsilon)
            return fitted_rotation(own, weights, clip=clip, epsilon=epsilon, watch=watch)
    raise Problem(f"There is no fit for {name!r}.", hint=f"There are {', '.join(NAMES)}.")


def _grid(scaled: Scaled, weights: Weights, epsilon: float) -> float:
    return clip_by_grid(scaled.proxy, weights, scaled.by_row, epsilon=epsilon)
