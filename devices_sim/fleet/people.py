"""People: habits that last. Some cycle and most do not; each has a way to work, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aggregation.protocol.shipped import ACTIVITIES
from devices_sim.fleet.countries import users
from devices_sim.fleet.draws import Lot, Purpose
from devices_sim.fleet.places import Places

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NAMES: Final = [str(name) for name in ACTIVITIES]
WALKING, RUNNING, CYCLING, MOTORCYCLING, DRIVING, BUS, TRAIN, SUBWAY, FLYING = range(9)

# For each activity, as in the domain. Tours a week, the way to work apart, of those who have it.
_TOURS: Final = np.array([8.0, 1.6, 1.4, 1.6, 3.0, 1.1, 0.6, 1.1, 0.05])
# How uneven people are: the log-normal spread of tours and of lengths. Few are extreme in several
# activities, as each is drawn on its own: the outliers of one are not those of another.
_UNEVEN: Final = np.array([0.45, 0.5, 0.6, 0.5, 0.45, 0.5, 0.6, 0.5, 0.5])
_STRETCH: Final = np.array([0.2, 0.35, 0.35, 0.3, 0.35, 0.2, 0.3, 0.2, 0.0])
# How likely an activity one has is one's way to work, and its median kilometres.
_TO_WORK: Final = np.array([0.06, 0.0, 0.30, 0.7, 1.0, 0.45, 0.45, 0.7, 0.0])
_WORK_KM: Final = np.array([1.1, 1.0, 3.2, 6.0, 10.0, 5.5, 20.0, 7.0, 1.0])
# Kilometres to a neighbouring region, at most: nobody walks there, and few cycle far.
FARTHEST: Final = np.array([0.0, 0.0, 25.0, 50.0, 80.0, 40.0, 80.0, 30.0, 0.0])
_HAS_SUBWAY: Final = 1_000_000
_COMMUTERS: Final = 0.58


@dataclass(frozen=True, eq=False, repr=False)
class People:
    """The habits of one block of people, in columns."""

    home: Ints
    # Local civil time ahead of UTC, in seconds.
    utc_offset: Ints
    commutes: NDArray[np.bool_]
    # Region of work, the kilometres to it, the usual means and the other one.
    work: Ints
    work_km: Floats
    way: Ints
    other_way: Ints
    # Share of working days on which one goes there, and the usual second of the day to leave.
    attendance: Floats
    leaves: Floats
    # By activity: tours a week, and how much longer than others' they are.
    tours: Floats
    stretch: Floats


def people(lot: Lot, home: Ints, places: Places, *, commuting: float = 1.0) -> People:
    draw = lot._replace(week=0).generator(Purpose.PEOPLE)
    count, kinds = len(home), len(NAMES)
    share = users(places.codes)[places.country[home]]
    share[:, SUBWAY] *= places.population[home] >= _HAS_SUBWAY
    has = draw.random((count, kinds)) < share
    uneven = np.exp(_UNEVEN * draw.standard_normal((count, kinds)) - _UNEVEN**2 / 2)
    stretch = np.exp(_STRETCH * draw.standard_normal((count, kinds)) - _STRETCH**2 / 2)
    way, other_way = _ways(draw, has)
    work, work_km = _work(draw, home, way, places)
    early = draw.standard_normal(count) * 2700
    night_shift = draw.random(count) < 0.04
    return People(
        home=home,
        utc_offset=places.utc_offset[home].astype(np.int64),
        commutes=draw.random(count) < min(1.0, _COMMUTERS * commuting),
        work=work,
        work_km=work_km,
        way=way,
        other_way=other_way,
        attendance=draw.beta(6.0, 1.2, count),
        leaves=7.8 * 3600 + early + night_shift * 12 * 3600,
        tours=has * _TOURS * uneven,
        stretch=stretch,
    )


def _ways(draw: np.random.Generator, has: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """The two likeliest ways to work of those one has; on foot where one has none."""
    pull = has * _TO_WORK * draw.gamma(1.2, size=has.shape)
    pull[:, WALKING] += 1e-9
    order = np.argsort(-pull, axis=1)
    way, other = order[:, 0], order[:, 1]
    exists = np.take_along_axis(pull, other[:, None], axis=1)[:, 0] > 0
    return way, np.where(exists, other, way)


def _work(draw: np.random.Generator, home: Ints, way: Ints, places: Places) -> tuple[Ints, Floats]:
    """Near home, or in a neighbouring region: the longer the way, the likelier."""
    spread = draw.standard_normal(len(home))
    km = _WORK_KM[way] * np.exp(0.55 * spread - 0.15)
    leaves_town = draw.random(len(home)) < leaving(km, home, places)
    neighbour = places.neighbour(home, draw.random(len(home)))
    other_km = 1.3 * places.kilometres(home, neighbour) + 1.0
    is_other = leaves_town & (neighbour != home) & (other_km <= FARTHEST[way])
    return np.where(is_other, neighbour, home), np.where(is_other, other_km, km)


def leaving(km: Floats, home: Ints, places: Places) -> Floats:
    """The chance that a way of this length leads out of town: it grows with the length."""
    # A city of a million is about 7 km from its middle to its edge.
    radius = np.sqrt(places.population[home] / 6000.0 / np.pi)
    chance: Floats = 0.65 * km / (km + 2.0 * radius)
    return chance
