"""All places at once, by the values that the region column has: for tables of many regions."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from aggregation.errors import Problem
from portal.streams.folding import words
from portal.streams.places_file import NAME, Version, reading, version_of
from portal.streams.selectors import streams_folder


class PlaceFacts(NamedTuple):
    name: str
    # ISO 3166 alpha-2
    country: str
    population: int
    latitude: float
    longitude: float


class Gazetteer(NamedTuple):
    # By the GeoNames id as text, most populous first.
    places: Mapping[str, PlaceFacts]
    # Names by code.
    countries: Mapping[str, str]


def gazetteer() -> Gazetteer:
    """Read once a process, and again when streams are installed anew; empty without places."""
    folder = streams_folder()
    try:
        return _gazetteer(folder, version_of(folder))
    except (FileNotFoundError, Problem):
        return _EMPTY


def ranks_by_name() -> Mapping[str, int]:
    """The rank of every place in the order of their names, accents and case aside."""
    folder = streams_folder()
    try:
        return _ranks(folder, version_of(folder))
    except FileNotFoundError:
        return {}


def edition() -> str:
    """The hash of the list of places that is installed; empty without places."""
    folder = streams_folder()
    try:
        return _edition(folder, version_of(folder))
    except FileNotFoundError:
        return ""


_EMPTY = Gazetteer({}, {})


@lru_cache(maxsize=1)
def _edition(folder: Path, version: Version) -> str:
    with (folder / NAME).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=1)
def _ranks(folder: Path, version: Version) -> Mapping[str, int]:
    places = gazetteer().places
    order = sorted(places, key=lambda value: (words(places[value].name), places[value].country))
    return {value: rank for rank, value in enumerate(order)}


@lru_cache(maxsize=1)
def _gazetteer(folder: Path, version: Version) -> Gazetteer:
    columns = "geonameid, name, country, population, latitude, longitude"
    with reading(folder) as database:
        rows = database.execute(f"SELECT {columns} FROM places ORDER BY rank")  # noqa: S608
        places = {str(geonameid): PlaceFacts(*facts) for geonameid, *facts in rows}
        countries = dict(database.execute("SELECT code, name FROM countries ORDER BY rank"))
    return Gazetteer(places, countries)
