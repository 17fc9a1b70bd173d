"""Connectivity: the moments at which a phone's system would give it background time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from devices_sim.device.conditions import MIN_BATTERY_PERCENT, Conditions
from devices_sim.fleet.draws import Lot, Purpose
from devices_sim.fleet.reach import law_of
from devices_sim.fleet.trips import TICK

_DAY: Final = 86_400
# Of days without a good moment, those on which the system grants a bad one all the same.
_IN_VAIN: Final = 0.15
# What a phone that is idle, but not both on Wi-Fi and charging, has of the two.
_ONLY_WIFI, _ONLY_CHARGING = 0.5, 0.15


def _condition(code: int) -> Conditions:
    idle, unmetered, charging, network = (bool(code & bit) for bit in (1, 2, 4, 8))
    return Conditions(idle, unmetered, charging, network, battery_percent=code >> 4)


# All conditions there are, made once: bits for idle, unmetered, charging and network, then battery.
_CONDITIONS: Final = [_condition(code) for code in range(101 << 4)]


@dataclass(frozen=True, eq=False, repr=False)
class Chances:
    """For each phone of a block: of an idle moment in a day, and of Wi-Fi and charging, too."""

    idle: NDArray[np.float64]
    charging_too: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """A week's moments of background time in 4 bytes each, those of each phone in order."""

    offsets: NDArray[np.int32]
    # In ticks since the week's start.
    time: NDArray[np.uint16]
    # Index into all conditions.
    code: NDArray[np.uint16]

    @property
    def nbytes(self) -> int:
        return self.offsets.nbytes + self.time.nbytes + self.code.nbytes


def conditions_of(code: int) -> Conditions:
    return _CONDITIONS[code]


def law_table(codes: Sequence[str]) -> NDArray[np.float64]:
    """For each country the beta laws of both chances: a and b of the one, a and b of the other."""
    laws = [law_of(code) for code in codes]
    return np.array([(x.idle.a, x.idle.b, x.charging_too.a, x.charging_too.b) for x in laws])


def chances(lot: Lot, laws: NDArray[np.float64]) -> Chances:
    """Phones differ from each other, and stay as they are. `laws`: the row of each phone."""
    draw = lot._replace(week=0).generator(Purpose.PHONES)
    a, b, too_a, too_b = laws.T
    return Chances(draw.beta(a, b), draw.beta(too_a, too_b))


def moments_of_week(lot: Lot, phones: Chances, utc_offset: NDArray[np.int64], most: int) -> Moments:
    """At most one a day (a day of UTC, as reach is counted by it), and at most `most` a week."""
    draw = lot.generator(Purpose.WAKE_UPS)
    shape = (len(utc_offset), 7)
    idle = draw.random(shape) < phones.idle[:, None]
    both = idle & (draw.random(shape) < phones.charging_too[:, None])
    code = np.where(idle, _good(draw, both), _bad(draw, both))
    granted = idle | (draw.random(shape) < _IN_VAIN)
    # Phones that charge do so at night; others lie idle at any hour, seldom in the morning.
    hour = np.where(both, 3.0 + 1.8 * _normal(draw, shape), 15.0 + 5.0 * _normal(draw, shape))
    second = np.mod(hour * 3600 - utc_offset[:, None], _DAY)
    if most:
        granted = _thinned(granted & idle, most)
    phone, day = np.nonzero(granted)
    counts = np.bincount(phone, minlength=shape[0])
    return Moments(
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        time=((day * _DAY + second[phone, day]) // TICK).astype(np.uint16),
        code=code[phone, day].astype(np.uint16),
    )


def _good(draw: np.random.Generator, both: NDArray[np.bool_]) -> NDArray[np.int64]:
    either = draw.random(both.shape)
    unmetered = both | (either < _ONLY_WIFI)
    charging = both | ((either >= _ONLY_WIFI) & (either < _ONLY_WIFI + _ONLY_CHARGING))
    battery = draw.integers(MIN_BATTERY_PERCENT, 101, both.shape)
    code: NDArray[np.int64] = 1 + 2 * unmetered + 4 * charging + 8 + (battery << 4)
    return code


def _bad(draw: np.random.Generator, both: NDArray[np.bool_]) -> NDArray[np.int64]:
    """In use; or idle, but without network, or with too little battery."""
    lacks = draw.random(both.shape)
    idle, network = lacks >= 0.5, ~((lacks >= 0.5) & (lacks < 0.8))
    low = draw.integers(1, MIN_BATTERY_PERCENT, both.shape)
    battery = np.where(lacks >= 0.8, low, 60)
    code: NDArray[np.int64] = idle + 8 * network + (battery << 4)
    return code


def _thinned(granted: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    """The first of a week, and with two the last: reach in the week stays what it was."""
    days = np.arange(granted.shape[1])
    first = granted.argmax(axis=1)[:, None]
    last = (len(days) - 1 - granted[:, ::-1].argmax(axis=1))[:, None]
    kept: NDArray[np.bool_] = granted & ((days == first) | ((days == last) & (most > 1)))
    return kept


def _normal(draw: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    return draw.standard_normal(shape)
