"""Unusual phones: long offline, with wrong clocks, installed again, crashing, or hostile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from devices_sim.fleet.draws import BLOCK, Lot, Purpose
from devices_sim.fleet.scenario import Scenario

Span = tuple[float, float]

_DAY: Final = 86_400.0
_WEEK: Final = 7 * _DAY


@dataclass(frozen=True)
class Unusual:
    """What is special about one phone; nothing, for most."""

    # Seconds its clock is ahead of civil time.
    clock_error: float = 0.0
    # Civil spans without any network, [start, end).
    offline: tuple[Span, ...] = ()
    # Civil moments at which it is wiped and starts anew.
    reinstalls: tuple[float, ...] = ()
    # Civil moments: the first upload from each on breaks off in the middle, as the phone stops.
    crashes: tuple[float, ...] = ()
    # The kind of bad updates it sends; empty for an honest phone.
    hostile: str = ""
    # Never remembers what it sent.
    forgetful: bool = False


NOTHING: Final = Unusual()


@dataclass(frozen=True)
class Lives:
    """A block of phones: the unusual ones by their place in it, and when each was installed."""

    unusual: dict[int, Unusual]
    installed: NDArray[np.float64]


def lives(scenario: Scenario, block: int, epoch: float) -> Lives:
    """All draws are made for all phones: a share that changes does not change other phones."""
    draw = Lot(scenario.seed, block).generator(Purpose.UNUSUAL)
    horizon = scenario.horizon_weeks * _WEEK
    lot, moment = draw.random((6, BLOCK)), epoch + horizon * draw.random((4, BLOCK))
    spell = np.exp(draw.uniform(np.log(7 * _DAY), np.log(28 * _DAY), BLOCK))
    error = np.exp(draw.uniform(np.log(300), np.log(4 * _DAY), BLOCK))
    error *= np.where(draw.random(BLOCK) < 0.5, -1, 1)
    kind, forgets = draw.random(BLOCK), draw.random(BLOCK)
    shares, kinds = scenario.unusual, scenario.hostile.kinds

    def one(i: int) -> Unusual:
        start = float(moment[0, i])
        first, second = float(moment[2, i]), float(moment[2, i] + _WEEK)
        return Unusual(
            clock_error=float(error[i]) if lot[1, i] < shares.wrong_clock else 0.0,
            offline=((start, start + float(spell[i])),) if lot[0, i] < shares.offline else (),
            reinstalls=(float(moment[1, i]),) if lot[2, i] < shares.reinstalled else (),
            crashes=(first, second) if lot[3, i] < shares.crashing else (),
            hostile=kinds[int(kind[i] * len(kinds))] if lot[4, i] < scenario.hostile.share else "",
            forgetful=bool(forgets[i] < shares.forgetful),
        )

    is_new = lot[5] < shares.new
    before = epoch - (moment[3] - epoch) * 6
    limits = [shares.offline, shares.wrong_clock, shares.reinstalled, shares.crashing]
    limits.append(scenario.hostile.share)
    is_special = (lot[:5] < np.array(limits)[:, None]).any(axis=0)
    special = np.nonzero(is_special | (forgets < shares.forgetful))[0]
    return Lives(
        unusual={int(i): one(int(i)) for i in special},
        installed=np.where(is_new, moment[3], before),
    )
