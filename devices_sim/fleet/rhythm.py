"""Rhythm: when in a week people set out, in their local civil time."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from devices_sim.fleet.people import FLYING, NAMES, RUNNING

WEEK: Final = 7 * 86_400
_HOURS: Final = np.arange(24)


def _bumps(*peaks: tuple[float, float, float]) -> NDArray[np.float64]:
    """Hours of a day: peaks of (hour, width, height), over a thin night."""
    day = np.full(24, 0.02)
    for hour, width, height in peaks:
        day += height * np.exp(-(((_HOURS + 0.5 - hour) / width) ** 2) / 2)
    return day


def _week(workday: NDArray[np.float64], weekend: NDArray[np.float64]) -> NDArray[np.float64]:
    late = np.zeros(24)
    late[[22, 23]] = 0.12
    friday = workday + late
    saturday = weekend + late + np.roll(late, 3)
    return np.concatenate([*[workday] * 4, friday, saturday, weekend])


_LEISURE: Final = _week(
    _bumps((12.5, 1.5, 0.5), (18.0, 2.2, 1.0)), _bumps((11.0, 2.0, 0.9), (15.5, 3.0, 1.1))
)
_SPORT: Final = _week(
    _bumps((6.8, 0.9, 0.7), (18.3, 1.5, 1.0)), _bumps((9.5, 1.8, 1.4), (17.0, 2.0, 0.6))
)
_FLIGHTS: Final = _week(
    _bumps((7.5, 1.5, 1.0), (17.0, 2.5, 1.0)), _bumps((9.0, 2.5, 0.9), (16.0, 3.0, 0.9))
)
_WEEKS: Final = [
    {RUNNING: _SPORT, FLYING: _FLIGHTS}.get(activity, _LEISURE) for activity in range(len(NAMES))
]
# Activity a lies between a and a + 1: one search serves all activities at once.
_ODDS: Final = np.concatenate([np.cumsum(w) / w.sum() + a for a, w in enumerate(_WEEKS)])
_LEISURE_ODDS: Final = np.cumsum(_LEISURE) / _LEISURE.sum()


def setting_out(
    activity: NDArray[np.int64], u: NDArray[np.float64], within_hour: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The local second of the week at which a tour of this activity starts."""
    hour = np.searchsorted(_ODDS, activity + u, side="right") - activity * 168
    seconds: NDArray[np.float64] = (np.clip(hour, 0, 167) + within_hour) * 3600.0
    return seconds


def any_time(u: NDArray[np.float64], within_hour: NDArray[np.float64]) -> NDArray[np.float64]:
    """A local second of the week at which people are about."""
    hour = np.minimum(np.searchsorted(_LEISURE_ODDS, u, side="right"), 167)
    return (hour + within_hour) * 3600.0


def in_week(local: NDArray[np.float64], utc_offset: NDArray[np.int64]) -> NDArray[np.float64]:
    """Seconds since the UTC week's start. The week is a wheel: what leaves it at one end, as a
    local Monday morning ahead of UTC or a return next week, comes in at the other. Each UTC week
    holds every local weekday and hour once, so nothing is lost and no week depends on another.
    """
    return np.mod(local - utc_offset, WEEK)
