"""Mechanisms fitted on one geography and tested on others, as the paper's evaluation does.

Every device of the other geographies is bounded by the code that phones run, sums get noise of the
law that releases have, and values are decoded as releases decode them. All mechanisms have noise of
one law on the same grid, so they share the draws: what is left between them is the mechanisms' own.
People and noise come from the seed, so the same question has the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from aggregation.calibration.expecting import bounded_sums
from aggregation.calibration.fitting import fitted
from aggregation.calibration.proxy import Proxy
from aggregation.calibration.scales import Scaled
from aggregation.calibration.weighing import Weights
from aggregation.mechanisms import build_for
from aggregation.protocol.anonymization import Mechanism
from portal.lab.comparing.geographies import geographies
from portal.lab.comparing.paper import PAPER, TARGET
from portal.lab.comparing.parameters import Parameters
from portal.lab.comparing.seeded_noise import seeded_noise
from portal.lab.pieces import Tell, worked_off
from portal.lab.running import Ask

SCALE_BY: Final = ("activity",)
ROTATE_BY: Final = ("activity", "direction")
MAX_ROWS: Final = 64
# Releases of each geography that errors are averaged over.
RELEASES: Final = 10
# Of the time that one ε takes, what each mechanism's fit and test do, about.
_EFFORT: Final = {"joint_clipping": 2.0, "budget_split": 3.0, "rotated": 12.0}
# Of a piece's own time, what the fit has.
_FITTING: Final = 0.8

Errors = dict[str, float]


def compare(
    parameters: dict[str, Any],
    progress: Callable[[float], None] = lambda share: None,
    cancelled: Callable[[], bool] = lambda: False,
    *,
    processes: int = 1,
) -> dict[str, Any]:
    """Weighted relative errors by ε and mechanism, for the mean over seeds and for each of them."""
    asked = Parameters.of(parameters)
    ask = Ask(progress, cancelled)
    by_seed = {}
    for number, seed in enumerate(asked.seeds):
        span = ask.part(number / len(asked.seeds), (number + 1) / len(asked.seeds))
        by_seed[seed] = _one_seed(asked, seed, span, processes)
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
    """A geography that nothing was fitted on, and the seed of the noise on its sums."""

    proxy: Proxy
    weights: Weights
    seed: tuple[int, int]


def _one_seed(
    asked: Parameters, seed: int, ask: Ask, processes: int
) -> dict[float, dict[str, Errors]]:
    mine, *others = geographies(asked.people, asked.devices, seed, ask.part(0.0, 0.1))
    weights, scaled = Weights.of(mine), Scaled.of(mine, SCALE_BY)
    tested = [_Tested(one, Weights.of(one), (seed, n)) for n, one in enumerate(others)]

    def work(piece: tuple[float, str], tell: Tell) -> Errors:
        epsilon, name = piece
        mechanism = fitted(
            name,
            scaled,
            weights,
            epsilon=epsilon,
            rotate_by=ROTATE_BY,
            watch=lambda share: tell(_FITTING * share),
        )
        tell(_FITTING)
        return _errors(mechanism, tested, epsilon, tell)

    pieces = [(epsilon, name) for epsilon in asked.epsilons for name in asked.mechanisms]
    efforts = [_EFFORT.get(name, 1.0) for _, name in pieces]
    errors = worked_off(
        pieces, work, ask.part(0.1, 1.0).watch, processes=processes, efforts=efforts
    )
    found = dict(zip(pieces, errors, strict=True))
    return {e: {name: found[e, name] for name in asked.mechanisms} for e in asked.epsilons}


def _errors(mechanism: Mechanism, tested: Sequence[_Tested], epsilon: float, tell: Tell) -> Errors:
    """By metric and on average, over all releases of all geographies."""
    rows = []
    for number, other in enumerate(tested):
        proxy = other.proxy
        arithmetic = build_for(mechanism, proxy.cells, proxy.metrics)
        sums = bounded_sums(arithmetic, proxy, max_rows=MAX_ROWS)
        shape = (RELEASES, len(proxy.seen), len(proxy.metrics))
        for drawn in seeded_noise(epsilon, shape, seed=other.seed):
            off = arithmetic.decode_cells(proxy.seen, sums + drawn) - proxy.truth
            error = other.weights.error(off)
            rows.append({**error.by_metric, "mean": error.mean})
        tell(_FITTING + (1 - _FITTING) * (number + 1) / len(tested))
    return _average(rows)


def _mean(found: Sequence[dict[str, Errors]]) -> dict[str, Errors]:
    return {name: _average([errors[name] for errors in found]) for name in found[0]}


def _average(rows: Sequence[Errors]) -> Errors:
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
