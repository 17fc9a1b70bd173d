"""Mechanisms fitted on one geography and tested on others, as the paper's evaluation does.

Every device of the other geographies is bounded by the code that phones run, sums get the noise
that releases get, and values are decoded as releases decode them. All mechanisms have noise of one
law on the same grid, so they share the draws: what is left between them is the mechanisms' own.
The noise has no seed, as that of a release has none: last digits differ from run to run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from aggregation.calibration.expecting import bounded_sums
from aggregation.calibration.fitting import fitted
from aggregation.calibration.proxy import Proxy
from aggregation.calibration.scales import Scaled
from aggregation.calibration.weighing import Weights
from aggregation.mechanisms import build_for
from aggregation.protocol.anonymization import GRID, Mechanism
from aggregation.protocol.part import Integers
from aggregation.release.laplace import DiscreteLaplace
from portal.lab.comparing.geographies import geographies
from portal.lab.comparing.paper import PAPER, TARGET
from portal.lab.comparing.parameters import Parameters
from portal.lab.running import Ask

SCALE_BY: Final = ("activity",)
ROTATE_BY: Final = ("activity", "direction")
MAX_ROWS: Final = 64
# Releases of each geography that errors are averaged over.
RELEASES: Final = 10
# Of the time that one ε takes, what each mechanism's fit and test do, about.
_EFFORT: Final = {"joint_clipping": 2, "budget_split": 3, "rotated": 12}

Errors = dict[str, float]


def compare(
    parameters: dict[str, Any],
    progress: Callable[[float], None] = lambda share: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Weighted relative errors by ε and mechanism, for the mean over seeds and for each of them."""
    asked = Parameters.of(parameters)
    ask = Ask(progress, cancelled)
    by_seed = {}
    for number, seed in enumerate(asked.seeds):
        span = ask.part(number / len(asked.seeds), (number + 1) / len(asked.seeds))
        by_seed[seed] = _one_seed(asked, seed, span)
    return {
        "parameters": asked.plain(),
        "target": TARGET,
        "paper": PAPER,
        "results": [
            {"epsilon": epsilon, "mechanisms": _mean([f[epsilon] for f in by_seed.values()])}
            for epsilon in asked.epsilons
        ],
        "by_seed": [
            {"seed": seed, "epsilon": epsilon, "mechanisms": found[epsilon]}
            for seed, found in by_seed.items()
            for epsilon in asked.epsilons
        ],
    }


@dataclass(frozen=True, eq=False)
class _Tested:
    """A geography that nothing was fitted on."""

    proxy: Proxy
    weights: Weights


def _one_seed(asked: Parameters, seed: int, ask: Ask) -> dict[float, dict[str, Errors]]:
    making = ask.part(0.0, 0.1)
    mine, *others = geographies(asked.people, asked.devices, seed, making)
    weights, scaled = Weights.of(mine), Scaled.of(mine, SCALE_BY)
    tested = [_Tested(other, Weights.of(other)) for other in others]
    found: dict[float, dict[str, Errors]] = {}
    spans = _spans(asked, ask)
    for epsilon in asked.epsilons:
        noise = [_draws(epsilon, other.proxy) for other in tested]
        found[epsilon] = {}
        for name in asked.mechanisms:
            span = next(spans)
            mechanism = fitted(
                name, scaled, weights, epsilon=epsilon, rotate_by=ROTATE_BY, watch=span.watch
            )
            found[epsilon][name] = _errors(mechanism, tested, noise, span)
            span.progress(1.0)
    return found


def _spans(asked: Parameters, ask: Ask) -> Iterator[Ask]:
    """The share of the way that each fit has, in the order in which they are made."""
    efforts = [_EFFORT.get(name, 1) for name in asked.mechanisms] * len(asked.epsilons)
    ends = 0.1 + 0.9 * np.cumsum([0, *efforts]) / sum(efforts)
    yield from (ask.part(float(a), float(b)) for a, b in itertools.pairwise(ends))


def _draws(epsilon: float, proxy: Proxy) -> Integers:
    """Noise for some releases of a geography: releases × cells × metrics, in grid units."""
    law = DiscreteLaplace(Fraction(str(epsilon)) / GRID)
    shape = (RELEASES, len(proxy.seen), len(proxy.metrics))
    return law.draw(int(np.prod(shape))).reshape(shape)


def _errors(
    mechanism: Mechanism, tested: Sequence[_Tested], noise: Sequence[Integers], ask: Ask
) -> Errors:
    """By metric and on average, over all releases of all geographies."""
    rows = []
    for other, draws in zip(tested, noise, strict=True):
        ask.go_on()
        proxy = other.proxy
        arithmetic = build_for(mechanism, proxy.cells, proxy.metrics)
        sums = bounded_sums(arithmetic, proxy, max_rows=MAX_ROWS)
        for drawn in draws:
            off = arithmetic.decode_cells(proxy.seen, sums + drawn) - proxy.truth
            error = other.weights.error(off)
            rows.append({**error.by_metric, "mean": error.mean})
    return _average(rows)


def _mean(found: Sequence[dict[str, Errors]]) -> dict[str, Errors]:
    return {name: _average([errors[name] for errors in found]) for name in found[0]}


def _average(rows: Sequence[Errors]) -> Errors:
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
