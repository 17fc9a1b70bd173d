"""Scales that fit a world: what a task's S(a, m) and clip would be, read from the people in it.

The paper fits them on proxy data; for a fleet, the world itself is the proxy. They are public
parameters of a task and lie outside its ε.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aggregation.protocol.windows import Window
from devices_sim.fleet.ground_truth import METRICS, PhoneSums, sums_by_phone
from devices_sim.fleet.people import NAMES
from devices_sim.fleet.world import World

# The paper's quantile for scales, and the one its clip bound is read at here.
SCALE_QUANTILE: Final = 0.95
CLIP_QUANTILE: Final = 0.98


@dataclass(frozen=True)
class Scales:
    """What 95 of 100 phones stay below in a window, of those that have the activity at all."""

    # By activity and metric; activities that nobody had are left out.
    by_activity: dict[str, dict[str, float]]
    # Quantile of a phone's whole update, each value divided by its scale.
    clip: float

    def lines(self) -> Iterator[str]:
        """As a spec writes them."""
        for activity, scales in self.by_activity.items():
            told = ", ".join(f"{metric}: {_rounded(value):g}" for metric, value in scales.items())
            yield f"{activity}: {{{told}}}"
        yield f"clip: {_rounded(self.clip):g}"


def fitted_scales(
    world: World,
    window: Window,
    *,
    metrics: Sequence[str] = ("num_trips", "distance_km", "duration_min"),
    clip_quantile: float = CLIP_QUANTILE,
) -> Scales:
    """Fitted on all phones of the world that agree to trips and made any in the window."""
    found = _joined(list(sums_by_phone(world, "trips", window, keys=("activity",))))
    values = found.units / np.array([1, *METRICS["trips"].values()])
    columns = {"num_trips": 0, "distance_km": 1, "duration_min": 2}
    values = values[:, [columns[metric] for metric in metrics]]
    norms = np.zeros(world.phones)
    by_activity = {}
    for activity, name in enumerate(NAMES):
        rows = found.cell == activity
        if rows.any():
            scales = np.quantile(values[rows], SCALE_QUANTILE, axis=0)
            norms[found.phone[rows]] += (values[rows] / scales).sum(axis=1)
            by_activity[name] = dict(zip(metrics, scales.tolist(), strict=True))
    travelled = norms[norms > 0]
    return Scales(by_activity, float(np.quantile(travelled, clip_quantile)))


def _joined(parts: list[PhoneSums]) -> PhoneSums:
    def column(name: str) -> NDArray[np.int64]:
        return np.concatenate([getattr(part, name) for part in parts])

    return PhoneSums(column("phone"), column("cell"), column("units"))


def _rounded(value: float) -> float:
    """Two digits: more would claim to know more."""
    return float(f"{value:.2g}")
