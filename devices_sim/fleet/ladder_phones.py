"""Phones of the version ladder: how often each wakes up, how slow it is, how far its owner travels.

The fleet's own law of reach (`reach`) tells on which days version 0.1 gets an answer out of a
phone. Here the same two-parameter family describes what lies beneath: how often a phone wakes up
at all, whatever then becomes of the wake-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from devices_sim.fleet.reach import Beta

Floats = NDArray[np.float64]

HOURS: Final = 168
# Systems grant an idle phone background time a few times a day, at growing intervals.
MOST_A_DAY: Final = 8.0
# How unlike phones are in speed: the log-normal spread of what the same work takes.
SLOWNESS: Final = 0.7
# Hours people travel in a week, and how uneven they are; a phone that travels is not idle.
_TRAVEL_HOURS, _TRAVEL_SPREAD = 7.5, 0.8


@dataclass(frozen=True)
class Rates:
    """The laws of a fleet: of a day with a wake-up, and of it being on Wi-Fi and charging, too."""

    awake: Beta
    charging_too: Beta


@dataclass(frozen=True, eq=False, repr=False)
class Phones:
    """One array each, a number for every phone."""

    # Idle wake-ups a day, and the share of them on Wi-Fi and charging.
    a_day: Floats
    charging_too: Floats
    # What work takes here, in multiples of a middling phone.
    slowness: Floats
    travel_hours: Floats

    def __len__(self) -> int:
        return len(self.a_day)


@dataclass(frozen=True, eq=False, repr=False)
class WakeUps:
    """A week's idle wake-ups of all phones, by the hour, in no order within one."""

    # Those of hour h are the rows starts[h] to starts[h + 1].
    starts: NDArray[np.int64]
    phone: NDArray[np.int32]
    # Seconds until the phone is used again or its system takes the time back.
    seconds: NDArray[np.float32]
    charging: NDArray[np.bool_]
    # Chance for whoever assigns at random.
    lot: NDArray[np.uint8]


def rate_of(awake: Floats) -> Floats:
    """Wake-ups a day of a phone that has at least one on this share of days."""
    return np.minimum(-np.log1p(-np.minimum(awake, 1 - 1e-12)), MOST_A_DAY)


def quantile(law: Beta, u: Floats) -> Floats:
    from scipy.special import betaincinv  # slow to import, and few need it

    found: Floats = betaincinv(law.a, law.b, u)
    return found


def phones(rates: Rates, count: int, seed: int) -> Phones:
    """The same seed is the same fleet: with other rates, each phone keeps its rank."""
    draw = np.random.default_rng((seed, 1))
    travel = np.exp(_TRAVEL_SPREAD * draw.standard_normal(count) - _TRAVEL_SPREAD**2 / 2)
    hours = np.minimum(_TRAVEL_HOURS * travel, 100.0)
    awake = quantile(rates.awake, draw.random(count))
    return Phones(
        a_day=rate_of(awake) * (1 - hours / HOURS),
        charging_too=quantile(rates.charging_too, draw.random(count)),
        slowness=np.exp(SLOWNESS * draw.standard_normal(count)),
        travel_hours=hours,
    )


def wake_ups(fleet: Phones, seed: int, *, mean_seconds: float) -> WakeUps:
    """Those that charge do so at night, others lie idle at any hour, seldom in the morning: as in
    `connectivity`. Phones of the world live in all time zones."""
    draw = np.random.default_rng((seed, 2))
    counts = draw.poisson(fleet.a_day * 7)
    phone = np.repeat(np.arange(len(fleet), dtype=np.int32), counts)
    many = len(phone)
    charging = draw.random(many) < fleet.charging_too[phone]
    spread = draw.standard_normal(many)
    local = np.where(charging, 3.0 + 1.8 * spread, 15.0 + 5.0 * spread)
    zone = np.round(5.0 + 4.0 * draw.standard_normal(len(fleet)))
    hour = np.mod(local - zone[phone], 24) + 24 * draw.integers(0, 7, many)
    order = np.lexsort((draw.random(many), hour.astype(np.int16)))
    return WakeUps(
        starts=np.searchsorted(hour[order].astype(np.int16), np.arange(HOURS + 1)),
        phone=phone[order],
        seconds=draw.exponential(mean_seconds, many).astype(np.float32),
        charging=charging[order],
        lot=draw.integers(0, 256, many, dtype=np.uint8),
    )
