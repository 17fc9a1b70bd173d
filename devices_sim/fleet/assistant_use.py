"""Uses of the assistant by a block of people in one week."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aggregation.protocol.shipped import FEATURES, OUTCOMES
from devices_sim.fleet.draws import Lot, Purpose
from devices_sim.fleet.rhythm import any_time, in_week
from devices_sim.fleet.trips import TICK

# By feature, as in the domain: how liked it is, and the median of its latency in ms.
_LIKED: Final = np.array([0.8, 1.6, 0.5, 0.6, 2.0])
_LATENCY: Final = np.array([900.0, 420.0, 1300.0, 350.0, 240.0])
# Outcomes of each feature: accepted, edited, dismissed, failed.
_OUTCOMES: Final = np.array(
    [
        [0.55, 0.15, 0.26, 0.04],
        [0.48, 0.27, 0.23, 0.02],
        [0.62, 0.22, 0.09, 0.07],
        [0.70, 0.12, 0.15, 0.03],
        [0.58, 0.05, 0.34, 0.03],
    ]
)
# Stars by outcome, 1 to 5, of those who give any.
_STARS: Final = np.array(
    [
        [0.02, 0.03, 0.10, 0.30, 0.55],
        [0.04, 0.10, 0.30, 0.36, 0.20],
        [0.30, 0.28, 0.25, 0.11, 0.06],
        [0.72, 0.16, 0.08, 0.02, 0.02],
    ]
)
_RATED: Final = 0.12


@dataclass(frozen=True, eq=False, repr=False)
class Uses:
    """A week's uses in 9 bytes each, those of each person in order of time."""

    offsets: NDArray[np.int32]
    # In ticks since the week's start.
    time: NDArray[np.uint16]
    feature: NDArray[np.uint8]
    outcome: NDArray[np.uint8]
    # 0: none was given.
    rating: NDArray[np.uint8]
    milliseconds: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.time)

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, field.name).nbytes for field in fields(self))


def uses_of_week(lot: Lot, utc_offset: NDArray[np.int64]) -> Uses:
    rates = _rates(lot, len(utc_offset))
    draw = lot.generator(Purpose.ASSISTANT)
    counts = draw.poisson(rates)
    person, feature = np.nonzero(counts)
    many = counts[person, feature]
    person, feature = np.repeat(person, many), np.repeat(feature, many)
    size = len(person)
    outcome = _chosen(_OUTCOMES, feature, draw.random(size))
    stars = _chosen(_STARS, outcome, draw.random(size)) + 1
    rating = np.where(draw.random(size) < _RATED, stars, 0)
    latency = _LATENCY[feature] * np.exp(0.55 * draw.standard_normal(size))
    latency *= np.where(outcome == OUTCOMES.index("failed"), 3.0, 1.0)
    time = in_week(any_time(draw.random(size), draw.random(size)), utc_offset[person])
    order = np.lexsort((time, person))
    totals = np.bincount(person, minlength=len(utc_offset))
    return Uses(
        offsets=np.concatenate([[0], np.cumsum(totals)]).astype(np.int32),
        time=(time[order] // TICK).astype(np.uint16),
        feature=feature[order].astype(np.uint8),
        outcome=outcome[order].astype(np.uint8),
        rating=rating[order].astype(np.uint8),
        milliseconds=np.maximum(latency[order], 1).astype(np.uint32),
    )


def _rates(lot: Lot, count: int) -> NDArray[np.float64]:
    """Uses a week by person and feature: three of ten never, few all the time."""
    draw = lot._replace(week=0).generator(Purpose.ASSISTANT_PEOPLE)
    uses = (draw.random(count) < 0.7) * np.exp(1.2 * draw.standard_normal(count) + 2.2)
    liked = _LIKED * draw.gamma(0.8, size=(count, len(FEATURES)))
    rates: NDArray[np.float64] = uses[:, None] * liked / liked.sum(axis=1, keepdims=True)
    return rates


def _chosen(
    odds: NDArray[np.float64], row: NDArray[np.int64], u: NDArray[np.float64]
) -> NDArray[np.int64]:
    """For each row of a table of chances, the place that u falls on."""
    edges = np.cumsum(odds, axis=1)[row]
    found: NDArray[np.int64] = (u[:, None] >= edges[:, :-1]).sum(axis=1)
    return found
