"""Trips of a block of people in one week: ways to work, tours near home, and far ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from devices_sim.fleet.draws import Lot, Purpose
from devices_sim.fleet.people import (
    FARTHEST,
    FLYING,
    Floats,
    Ints,
    People,
    leaving,
)
from devices_sim.fleet.places import Places
from devices_sim.fleet.rhythm import in_week, setting_out

# Times are told to ten seconds: a week of them fits 16 bits.
TICK: Final = 10
# By activity: median km of a trip and its spread, km/h for short ways, minutes before and after.
_KM: Final = np.array([0.6, 5.5, 2.6, 5.0, 6.5, 4.5, 18.0, 6.5, 1.0])
_SPREAD: Final = np.array([0.65, 0.45, 0.65, 0.7, 0.8, 0.55, 0.7, 0.4, 0.0])
_SPEED: Final = np.array([4.7, 9.8, 15.0, 26.0, 26.0, 15.0, 45.0, 28.0, 760.0])
# What is gained on long ways: motorways, express trains.
_LONG_SPEED: Final = np.array([0.0, 0.0, 2.0, 40.0, 65.0, 50.0, 75.0, 5.0, 60.0])
_MINUTES: Final = np.array([1.0, 0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 5.0, 35.0])
# By activity: tours that end where they began, and those that lead far away.
_LOOPS: Final = np.array([0.35, 1.0, 0.3, 0.1, 0.05, 0.0, 0.0, 0.0, 0.0])
_FAR: Final = np.array([0.0, 0.0, 0.0, 0.002, 0.012, 0.006, 0.05, 0.0, 1.0])
_NEAREST_BY_LAND, _FARTHEST_BY_LAND = 80.0, 900.0
_NEAREST_BY_AIR: Final = 250.0
_DOMESTIC_FLIGHTS: Final = 0.6


@dataclass(frozen=True, eq=False, repr=False)
class Trips:
    """A week's trips in 13 bytes each, those of each person in order of time."""

    # Person i of the block has the rows offsets[i] to offsets[i + 1].
    offsets: NDArray[np.int32]
    # In ticks since the week's start.
    time: NDArray[np.uint16]
    # Ranks of regions; the same where a trip stays within one.
    origin: NDArray[np.uint16]
    destination: NDArray[np.uint16]
    activity: NDArray[np.uint8]
    metres: NDArray[np.uint32]
    seconds: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.time)

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, field.name).nbytes for field in fields(self))


@dataclass(frozen=True)
class Factors:
    """How this week differs from a usual one, for each person."""

    commuting: Floats
    far: Floats
    # By person and activity.
    leisure: Floats


@dataclass(frozen=True, eq=False)
class _Rows:
    """Trips not yet in order: one array for each column."""

    person: Ints
    # Seconds since the week's start.
    time: Floats
    origin: Ints
    destination: Ints
    activity: Ints
    km: Floats


def trips_of_week(lot: Lot, people: People, places: Places, factors: Factors) -> Trips:
    draw = lot.generator(Purpose.TRIPS)
    rows = _joined([_to_work(draw, people, factors), *_tours(draw, people, places, factors)])
    order = np.lexsort((rows.time, rows.person))
    counts = np.bincount(rows.person, minlength=len(people.home))
    km, activity = rows.km[order], rows.activity[order]
    return Trips(
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        time=(rows.time[order] // TICK).astype(np.uint16),
        origin=rows.origin[order].astype(np.uint16),
        destination=rows.destination[order].astype(np.uint16),
        activity=activity.astype(np.uint8),
        metres=np.maximum(km * 1000, 50).astype(np.uint32),
        seconds=_seconds(draw, km, activity).astype(np.uint16),
    )


def _to_work(draw: np.random.Generator, people: People, factors: Factors) -> _Rows:
    """There and back, on the days one goes; the usual way, or sometimes the other one."""
    count = len(people.home)
    goes = people.attendance[:, None] * np.array([1, 1, 1, 1, 0.95, 0.12, 0.06])
    goes = goes * factors.commuting[:, None]
    person, day = np.nonzero((draw.random((count, 7)) < goes) & people.commutes[:, None])
    trips = len(person)
    usual = draw.random(trips) < 0.87
    activity = np.where(usual, people.way[person], people.other_way[person])
    leaves = day * 86_400 + people.leaves[person] + draw.standard_normal(trips) * 900
    returns = leaves + 3600 * np.maximum(1.0, 8.9 + 1.1 * draw.standard_normal(trips))
    km = people.work_km[person] * np.exp(0.05 * draw.standard_normal(trips))
    home, work, ahead = people.home[person], people.work[person], people.utc_offset[person]
    there = _Rows(person, in_week(leaves, ahead), home, work, activity, km)
    back = _Rows(person, in_week(returns, ahead), work, home, activity, km)
    return _joined([there, back])


def _tours(
    draw: np.random.Generator, people: People, places: Places, factors: Factors
) -> Sequence[_Rows]:
    """Tours of everyday life and far ones; a loop is one trip, all others have their return."""
    counts = draw.poisson(people.tours * factors.leisure * _far_factor(factors))
    person, activity = np.nonzero(counts)
    many = counts[person, activity]
    person, activity = np.repeat(person, many), np.repeat(activity, many)
    size, home = len(person), people.home[person]
    is_far = draw.random(size) < np.minimum(1.0, _FAR[activity] * factors.far[person])
    km = _KM[activity] * np.exp(_SPREAD[activity] * draw.standard_normal(size))
    km *= people.stretch[person, activity]
    is_loop = ~is_far & (draw.random(size) < _LOOPS[activity])
    leaves_town = draw.random(size) < leaving(km, home, places)
    goal = _goals(draw, home, activity, is_far, leaves_town & ~is_loop, places=places)
    way = places.kilometres(home, goal) * np.where(activity == FLYING, 1.05, 1.3) + 1.0
    goal = np.where(is_far | (way <= FARTHEST[activity]), goal, home)
    goal_km = np.where(goal == home, km, way)
    leaves = setting_out(activity, draw.random(size), draw.random(size))
    stay = np.exp(0.6 * draw.standard_normal(size)) * np.where(is_far, 30.0, 1.6)
    returns = leaves + 3600 * (np.minimum(stay, 120.0) + goal_km / _SPEED[activity])
    ahead = people.utc_offset[person]
    there = _Rows(person, in_week(leaves, ahead), home, goal, activity, goal_km)
    back = _Rows(person, in_week(returns, ahead), goal, home, activity, goal_km)
    # No flight leads nowhere: where there is no other region, nobody flies.
    real = (activity != FLYING) | (goal != home)
    return [_kept(there, real), _kept(back, real & ~is_loop)]


def _far_factor(factors: Factors) -> Floats:
    """All flights are far; of other tours more lead far away, and not more are made."""
    factor = np.ones_like(factors.leisure)
    factor[:, FLYING] = factors.far
    return factor


def _goals(
    draw: np.random.Generator,
    home: Ints,
    activity: Ints,
    is_far: NDArray[np.bool_],
    leaves_town: NDArray[np.bool_],
    *,
    places: Places,
) -> Ints:
    """Where a tour leads: a neighbouring region, one far away, or nowhere else."""
    goal = home.copy()
    near, far = np.nonzero(leaves_town & ~is_far)[0], np.nonzero(is_far)[0]
    goal[near] = places.neighbour(home[near], draw.random(len(near)))
    here, tries = home[far], draw.random((12, len(far)))
    domestic = [places.in_country(here, u) for u in tries[:2]]
    anywhere = [places.anywhere(here, u) for u in tries[2:]]
    flies_abroad = draw.random(len(far)) >= _DOMESTIC_FLIGHTS
    by_air = _nearest(here, domestic, places, _NEAREST_BY_AIR)
    abroad = _nearest(here, anywhere, places, _NEAREST_BY_AIR)
    by_air = np.where(flies_abroad | (by_air == here), abroad, by_air)
    by_land = _nearest(here, domestic, places, _NEAREST_BY_LAND)
    by_land = np.where(places.kilometres(here, by_land) <= _FARTHEST_BY_LAND, by_land, here)
    goal[far] = np.where(activity[far] == FLYING, by_air, by_land)
    return goal


def _nearest(home: Ints, goals: Sequence[Ints], places: Places, least_km: float) -> Ints:
    """The nearest of some goals that is worth the journey; home, where none is.

    Far away is where people seldom go: chosen by population alone, half of all flights would
    cross the world.
    """
    found = np.stack([home, *goals])
    km = np.stack([places.kilometres(home, each) for each in found])
    km[km < least_km] = np.inf
    km[0] = 1e9  # only where no goal is left
    nearest: Ints = np.take_along_axis(found, km.argmin(axis=0)[None, :], axis=0)[0]
    return nearest


def _seconds(draw: np.random.Generator, km: Floats, activity: Ints) -> Floats:
    """Longer ways are quicker; no trip lasts longer than 18 hours."""
    speed = _SPEED[activity] + _LONG_SPEED[activity] * (1 - np.exp(-km / 60.0))
    hours = km / speed * np.exp(0.15 * draw.standard_normal(len(km)))
    seconds: Floats = np.clip(hours * 3600 + _MINUTES[activity] * 60, 60, 64_800)
    return seconds


def _joined(parts: Sequence[_Rows]) -> _Rows:
    names = [field.name for field in fields(_Rows)]
    return _Rows(*[np.concatenate([getattr(part, name) for part in parts]) for name in names])


def _kept(rows: _Rows, keep: NDArray[np.bool_]) -> _Rows:
    return _Rows(*[getattr(rows, field.name)[keep] for field in fields(_Rows)])
