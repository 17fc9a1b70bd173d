"""A made-up proxy population with heavy tails: a week of travel in many regions, in columns.

Of what devices do, the paper's data seem to lose about 3 % to a clip bound that 2 % of them exceed.
The fleet's world loses half of that: its people travel too evenly. Here a person's trips a week are
log-normal around an activity's mean, with one more factor of the person's own on all activities;
kilometres are log-normal over people and over trips, and minutes follow from them. The spreads were
chosen so that Group Scaling at q98 and Budget Split err about as much as in the paper; nothing
else was.

Regions differ in who has which activity and how far they go. A geography is a set of regions of its
own: another seed is another one. What is not there: days, weekends, weather, families.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from aggregation.calibration.proxy import Proxy
from aggregation.ondevice.bounding import Rows
from aggregation.protocol.domains import Domain
from aggregation.protocol.part import Floats, Integers
from aggregation.protocol.ranks import Cells
from aggregation.protocol.shipped import ACTIVITIES, DIRECTIONS

METRICS: Final = ("num_trips", "distance_km", "duration_min")
WITHIN, OUTBOUND, INBOUND = range(3)


class _Activity(NamedTuple):
    # Share of people who have it, and their mean trips a week.
    has: float
    trips: float
    # Log-normal spread of trips over people.
    uneven: float
    # Mean km of a trip, its spread over people and over a person's trips.
    km: float
    stretch: float
    spread: float
    # Usual speed, and minutes before and after.
    km_per_hour: float
    minutes: float
    # Share of trips that lead to another region or back.
    leaves: float


_WAYS: Final = (
    _Activity(0.95, 10.0, 0.74, 1.0, 0.44, 0.88, 4.8, 1.0, 0.03),  # walking
    _Activity(0.12, 2.0, 0.63, 5.0, 0.44, 0.55, 9.5, 0.0, 0.05),  # running
    _Activity(0.25, 5.0, 0.84, 3.2, 0.50, 0.77, 15.0, 1.0, 0.10),  # cycling
    _Activity(0.12, 7.0, 0.79, 6.0, 0.55, 0.88, 28.0, 2.0, 0.20),  # motorcycling
    _Activity(0.68, 10.0, 0.79, 9.0, 0.60, 0.99, 33.0, 3.0, 0.25),  # driving
    _Activity(0.32, 4.5, 0.79, 6.0, 0.38, 0.66, 17.0, 6.0, 0.20),  # bus
    _Activity(0.15, 3.5, 0.79, 22.0, 0.55, 0.88, 48.0, 8.0, 0.50),  # train
    _Activity(0.18, 4.0, 0.79, 7.5, 0.33, 0.55, 29.0, 6.0, 0.15),  # subway
    _Activity(0.03, 1.6, 0.42, 1300.0, 0.66, 0.77, 650.0, 40.0, 1.0),  # flying
)
# Spread of the factor that a person has on all activities.
_BUSY: Final = 0.52
# How regions differ: log odds of having an activity, and log kilometres.
_MIX, _FAR = 0.35, 0.2
# Trips between regions are longer.
_LONGER: Final = 1.6


class _People(NamedTuple):
    """Those who have one activity: who, trips a week, kilometres a trip, minutes a kilometre."""

    who: Integers
    rate: Floats
    km: Floats
    pace: Floats


class _Legs(NamedTuple):
    """Trips of one kind, by person: how many, kilometres and minutes of all together."""

    who: Integers
    sums: Floats


def travellers(*, regions: int, per_region: int, seed: int) -> Proxy:
    """A geography of as many regions, each with as many devices."""
    rng = np.random.default_rng(seed)
    people = regions * per_region
    home = np.repeat(np.arange(regions), per_region)
    away = (home + 1 + rng.geometric(0.5, people)) % regions
    busy = _log_normal(rng, _BUSY, people)
    owners, ranks, values = [], [], []
    for activity, way in enumerate(_WAYS):
        having = _having(rng, way, home, busy)
        for legs, direction, goes_away in _trips(rng, way, having):
            region = (away if goes_away else home)[legs.who]
            owners.append(legs.who)
            ranks.append((region * len(_WAYS) + activity) * len(DIRECTIONS) + direction)
            values.append(legs.sums)
    rows = _ragged(np.concatenate(owners), np.concatenate(ranks), np.concatenate(values), people)
    return Proxy.of(cells_of(regions), METRICS, rows, count="num_trips")


def cells_of(regions: int) -> Cells:
    names = Domain([f"{number}" for number in range(1, regions + 1)])
    return Cells(("region", "activity", "direction"), (names, ACTIVITIES, DIRECTIONS))


def _having(rng: np.random.Generator, way: _Activity, home: Integers, busy: Floats) -> _People:
    regions = int(home[-1]) + 1
    odds = way.has / (1 - way.has) * np.exp(_MIX * rng.standard_normal(regions))
    usual_km = way.km * np.exp(_FAR * rng.standard_normal(regions))
    who = np.flatnonzero(rng.random(len(home)) < (odds / (1 + odds))[home])
    return _People(
        who=who,
        rate=way.trips * busy[who] * _log_normal(rng, way.uneven, len(who)),
        km=usual_km[home[who]] * _log_normal(rng, way.stretch, len(who)),
        pace=60 / way.km_per_hour * np.exp(0.2 * rng.standard_normal(len(who))),
    )


def _trips(
    rng: np.random.Generator, way: _Activity, people: _People
) -> Iterator[tuple[_Legs, int, bool]]:
    """Legs, their direction, and whether they count in the other region.

    Between regions there are two kinds, there and back; each counts in both regions.
    """
    leaves = np.minimum(way.leaves * np.exp(0.8 * rng.standard_normal(len(people.who))), 1.0)
    yield _legs(rng, way, people._replace(rate=people.rate * (1 - leaves))), WITHIN, False
    far = people._replace(rate=people.rate * leaves / 2, km=people.km * _LONGER)
    for here, there in ((OUTBOUND, INBOUND), (INBOUND, OUTBOUND)):
        legs = _legs(rng, way, far)
        yield legs, here, False
        yield legs, there, True


def _legs(rng: np.random.Generator, way: _Activity, people: _People) -> _Legs:
    counts = rng.poisson(people.rate)
    some = np.flatnonzero(counts)
    count = counts[some].astype(np.float64)
    far = count * people.km[some] * _log_normal(rng, way.spread / np.sqrt(count), len(some))
    # Longer ways are quicker.
    quicker = (far / count / way.km) ** -0.25
    jitter = np.exp(0.15 / np.sqrt(count) * rng.standard_normal(len(some)))
    minutes = far * people.pace[some] * quicker * jitter + way.minutes * count
    return _Legs(people.who[some], np.stack([count, far, minutes], axis=1))


def _log_normal(rng: np.random.Generator, spread: float | Floats, size: int) -> Floats:
    """With mean 1."""
    drawn: Floats = np.exp(spread * rng.standard_normal(size) - np.square(spread) / 2)
    return drawn


def _ragged(owner: Integers, ranks: Integers, values: Floats, people: int) -> Rows:
    order = np.argsort(owner, kind="stable")
    offsets = np.zeros(people + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=people), out=offsets[1:])
    return Rows(offsets, ranks[order], values[order])
