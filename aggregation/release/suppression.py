"""Suppression: what the noise would drown is not shown, and the reason stands beside it.

A row is kept iff its noised value is at least (mean size of its noise) / X for every metric that
the task names, X being `max_relative_noise`. Negative values are thereby suppressed. The rule
reads noised values and public constants only: a threshold on a true value would tell, by the mere
presence of a row, what no noise covers (measured: ε ≥ 7.7 at a claimed 1).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aggregation.protocol.anonymization import Suppression
from aggregation.protocol.part import Floats
from aggregation.release.estimates import Estimates

# Which metric a row is suppressed for, by its place from 1 on; 0 for a row that is kept.
Reasons = NDArray[np.uint8]


def is_asked(rule: Suppression, metric: str) -> bool:
    """Whether a row has to pass on account of this metric."""
    if isinstance(rule.metrics, str):
        return rule.metrics in ("all", metric)
    return metric in rule.metrics


def smallest_kept(rule: Suppression, mean_abs: float) -> float:
    """The smallest noised value that is shown, where noise has this mean size."""
    return mean_abs / rule.max_relative_noise


def reasons(estimates: Estimates, rule: Suppression, rows: slice) -> Reasons:
    """For each of these rows, the first metric that fails."""
    found = np.zeros(len(range(*rows.indices(len(estimates.values)))), dtype=np.uint8)
    for place, metric in reversed(list(enumerate(estimates.metrics))):
        if is_asked(rule, metric):
            found[~passes(estimates, rule, place, rows)] = place + 1
    return found


def passes(estimates: Estimates, rule: Suppression, place: int, rows: slice) -> NDArray[np.bool_]:
    """Whether each row's noised value of one metric is large against its noise."""
    least: Floats = estimates.law.noise.mean_abs[:, place] / rule.max_relative_noise
    large: NDArray[np.bool_] = estimates.values[rows, place] >= least[estimates.classes[rows]]
    return large


def sentences(rule: Suppression, metrics: Sequence[str]) -> tuple[str, ...]:
    """What a reason reads, by its number; nothing for rows that are kept."""
    share = f"{100 * rule.max_relative_noise:g} %"
    return ("", *(f"The noise is more than {share} of {metric}." for metric in metrics))
