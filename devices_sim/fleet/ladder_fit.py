"""How often phones wake up, so that version 0.1 reaches what the paper's did: four numbers fitted
to four figures, and none of them to a later version.

Two describe how unlike phones are in waking up; they are found from the weekly and the daily reach
of idle phones. Two describe Wi-Fi and charging; they are found from the figures under all three
conditions. For given chances to be admitted, reach has a closed form over quantiles of the laws;
the chances themselves come out of the simulated week, so both are found in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log
from statistics import NormalDist
from typing import Final

import numpy as np

from devices_sim.fleet.ladder import VERSIONS, Assumed, Version, finishing, run_week
from devices_sim.fleet.ladder_phones import (
    SLOWNESS,
    Floats,
    Rates,
    phones,
    quantile,
    rate_of,
    wake_ups,
)
from devices_sim.fleet.reach import ALL, ALL_THREE, DAYS, IDLE, PAPER, Beta, Reach

_ROUNDS: Final = 5
_FLEET: Final = 40_000
_QUANTILES: Final = (np.arange(200) + 0.5) / 200
_SPEEDS: Final = np.exp(
    SLOWNESS * np.array([NormalDist().inv_cdf((n + 0.5) / 12) for n in range(12)])
)


def fitted(
    assumed: Assumed, seed: int, cancelled: Callable[[], bool] = lambda: False
) -> tuple[Rates, Reach]:
    """The rates, and the chance of getting an answer in that they imply for one check-in: as
    `Reach.weekly` for all three conditions, as `Reach.daily` for idle ones."""
    strict, idle = VERSIONS[0], VERSIONS[1]
    # The chance that a check-in is admitted and is given the task: at first, a guess.
    chance = {idle: 0.9 / assumed.tasks, strict: 0.9 / assumed.tasks}
    rates = Rates(Beta(0.6, 1.0), Beta(0.5, 0.5))
    for _ in range(_ROUNDS):
        awake = _law(lambda law: _reach(law, None, idle, chance[idle], assumed), IDLE)
        too = _law(
            lambda law, a=awake: _reach(a, law, strict, chance[strict], assumed),  # type: ignore[misc]
            ALL_THREE,
        )
        rates = Rates(awake, too)
        fleet = phones(rates, _FLEET, seed)
        moments = wake_ups(fleet, seed, mean_seconds=assumed.wake_up_seconds)
        for version, conditions in ((idle, IDLE), (strict, ALL_THREE)):
            found = run_week(version, fleet, moments, assumed, cancelled).reach
            # Squared: reach follows the chance slowly.
            chance[version] *= (log(1 - found) / log(1 - PAPER[conditions][ALL].weekly)) ** 2
    return rates, Reach(weekly=chance[strict], daily=chance[idle])


def _reach(
    awake: Beta, too: Beta | None, version: Version, chance: float, assumed: Assumed
) -> Reach:
    """Of phones with these laws, if each wake-up is admitted with this chance."""
    a_day = rate_of(quantile(awake, _QUANTILES))[:, None]
    answers = chance * finishing(version, _SPEEDS, assumed)[None, :]
    shares = quantile(too, _QUANTILES[4::8]) if too else np.ones(1)
    weekly = np.mean([_missed(a_day * share * answers * DAYS) for share in shares])
    daily = np.mean([_missed(a_day * share * answers) for share in shares])
    return Reach(weekly=1 - float(weekly), daily=1 - float(daily))


def _missed(expected: Floats) -> float:
    return float(np.exp(-expected).mean())


def _law(reach: Callable[[Beta], Reach], conditions: str) -> Beta:
    """The law whose weekly reach is the paper's for its mean, and whose daily for its likeness."""
    paper = PAPER[conditions][ALL]

    def at(log_likeness: float) -> Beta:
        likeness = exp(log_likeness)
        mean = _root(lambda m: reach(Beta(m, likeness)).weekly - paper.weekly, 1e-3, 1 - 1e-3)
        return Beta(mean, likeness)

    return at(_root(lambda x: paper.daily - reach(at(x)).daily, log(0.05), log(50.0)))


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where it is 0, or the end that is nearer to it: then no law has the paper's figures."""
    from scipy.optimize import brentq  # slow to import, and few need it

    below, above = rising(low), rising(high)
    if below * above > 0:
        return low if abs(below) < abs(above) else high
    return float(brentq(rising, low, high, xtol=1e-5))
