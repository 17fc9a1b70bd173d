"""All places at once, by the values that the region column has: for tables of many regions."""

import hashlib
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from aggregation.errors import Problem
from portal.streams.folding import words
from portal.streams.places_file import NAME, reading
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
        return _gazetteer(folder, _version(folder))
    except (FileNotFoundError, Problem):
        return _EMPTY


def ranks_by_name() -> Mapping[str, int]:
    """The rank of every place in the order of their names, accents and case aside."""
    folder = streams_folder()
    try:
        return _ranks(folder, _version(folder))
    except FileNotFoundError:
        return {}


def edition() -> str:
    """The hash of the list of places that is installed; empty without places."""
    folder = streams_folder()
    try:
        return _edition(folder, _version(folder))
    except FileNotFoundError:
        return ""


_EMPTY = Gazetteer({}, {})


def _version(folder: Path) -> tuple[int, int, int]:
    stat = os.stat(folder / NAME)
    return stat.st_mtime_ns, stat.st_ino, stat.st_size


@lru_cache(maxsize=1)
def _edition(folder: Path, version: tuple[int, int, int]) -> str:
    with (folder / NAME).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=1)
def _ranks(folder: Path, version: tuple[int, int, int]) -> Mapping[str, int]:
    places = gazetteer().places
    order = sorted(places, key=lambda value: (words(places[value].name), places[value].country))
    return {value: rank for rank, value in enumerate(order)}


@lru_cache(maxsize=1)
def _gazetteer(folder: Path, version: tuple[int, int, int]) -> Gazetteer:
    columns = "geonameid, name, country, population, latitude, longitude"
    with reading(folder) as database:
        rows = database.execute(f"SELECT {columns} FROM places ORDER BY rank")  # noqa: S608
        places = {str(geonameid): PlaceFacts(*facts) for geonameid, *facts in rows}
        countries = dict(database.execute("SELECT code, name FROM countries ORDER BY rank"))
    return Gazetteer(places, countries)
