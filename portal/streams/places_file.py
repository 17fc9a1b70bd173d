"""`places.sqlite`: all places with their names in every spelling, in one read-only file.

The row of a place is its rank, which is its index in the region domain: places come out most
populous first without sorting. Names are folded (portal.streams.folding) before they go into the
full-text index, and the index takes them as they are, so that a search finds the same places with
every version of SQLite.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

from aggregation.errors import Problem
from portal.streams.folding import words
from portal.streams.geography import CREDIT, Geography, Place

NAME = "places.sqlite"
# Goes up with every change of the schema or of how names are folded.
FORMAT = 1
# A name's row id is its place's rank, shifted, plus its number among the place's names.
NAME_BITS = 10

Version = tuple[int, int, int]

_SCHEMA = """
CREATE TABLE about (credit TEXT NOT NULL, regions TEXT NOT NULL, countries TEXT NOT NULL);
CREATE TABLE places (
    rank INTEGER PRIMARY KEY, geonameid INTEGER NOT NULL UNIQUE, name TEXT NOT NULL,
    country TEXT NOT NULL, latitude REAL NOT NULL, longitude REAL NOT NULL,
    population INTEGER NOT NULL, timezone TEXT NOT NULL, admin1 TEXT NOT NULL,
    other_names TEXT NOT NULL
);
CREATE INDEX places_of_a_country ON places (country, rank);
CREATE TABLE countries (
    rank INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    continent TEXT NOT NULL, regions INTEGER NOT NULL, largest TEXT NOT NULL
);
CREATE VIRTUAL TABLE names USING fts5(
    name, content='', tokenize=ascii, detail=none, columnsize=0, prefix='1 2'
);
"""
_ADD_COUNTRY = """
INSERT INTO countries
SELECT ?, code, ?, ?, (SELECT COUNT(*) FROM places WHERE country = code),
       (SELECT name FROM places WHERE country = code ORDER BY rank LIMIT 1)
FROM (SELECT ? AS code)
"""


def write(folder: Path, geography: Geography) -> Path:
    """Build the file beside its place and rename it: a reader sees a whole one or none."""
    path = folder / NAME
    temporary = folder / f"{NAME}.{uuid4().hex}.new"
    with closing(sqlite3.connect(temporary, isolation_level=None)) as database:
        # Nobody reads the file before it is complete: no journal, nothing to roll back.
        database.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {_SCHEMA}")
        database.execute("BEGIN")
        _fill(database, geography)
        database.execute("INSERT INTO names (names) VALUES ('optimize')")
        database.execute("COMMIT")
    temporary.replace(path)
    return path


def version_of(folder: Path) -> Version:
    """Another one for another file. Raises OSError where there is none."""
    stat = os.stat(folder / NAME)
    return stat.st_mtime_ns, stat.st_ino, stat.st_size


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """A connection to the file as it is now. Opening takes a fraction of a millisecond."""
    address = f"{(folder / NAME).absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            yield database
    except sqlite3.DatabaseError as error:
        raise Problem(
            f"The file {folder / NAME} cannot be read ({error}).",
            hint="Run `manage.py install_streams`: it builds what is missing or damaged again.",
        ) from None


def _fill(database: sqlite3.Connection, geography: Geography) -> None:
    hashes = (geography.regions.sha256, geography.country_codes.sha256)
    database.execute("INSERT INTO about VALUES (?, ?, ?)", (CREDIT, *hashes))
    rows = ((rank, *_columns(place)) for rank, place in enumerate(geography.places))
    database.executemany("INSERT INTO places VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    for rank, country in enumerate(geography.countries):
        row = (rank, country.name, country.continent, country.code)
        database.execute(_ADD_COUNTRY, row)
    for rank, place in enumerate(geography.places):
        database.executemany(
            "INSERT INTO names (rowid, name) VALUES (?, ?)",
            (((rank << NAME_BITS) + k, name) for k, name in enumerate(_folded_names(place))),
        )


def _columns(place: Place) -> tuple[object, ...]:
    position = (place.latitude, place.longitude)
    rest = (place.population, place.timezone, place.admin1, "\n".join(place.other_names))
    return (place.geonameid, place.name, place.country, *position, *rest)


def _folded_names(place: Place) -> list[str]:
    """Each spelling once, the place's own name first."""
    spellings = (" ".join(words(name)) for name in (place.name, *place.other_names))
    return list(dict.fromkeys(filter(None, spellings)))[: 1 << NAME_BITS]
