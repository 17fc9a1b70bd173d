"""Places as the installed file holds them: one by its id, or all that a text matches."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, overload

from portal.streams.folding import words
from portal.streams.geography import Place
from portal.streams.ordering import best_first
from portal.streams.places_file import NAME_BITS, Version, reading, version_of

# More is no search: what lies behind is not looked at.
MOST_CHARACTERS, MOST_WORDS = 200, 10

_COLUMNS = (
    "geonameid, name, country, latitude, longitude, population, timezone, admin1, other_names"
)


@dataclass(frozen=True)
class CountryFacts:
    """A country and what the list of places has of it."""

    # Index in the country domain
    rank: int
    code: str
    name: str
    continent: str
    regions: int
    # Name of its most populous region. No sum of populations: quarters are regions, too, and
    # would be counted twice.
    largest: str


class PlaceMatches(Sequence[tuple[int, Place]]):
    """Places with their rank, in the order of these. Only the slice that is asked for is read."""

    def __init__(self, folder: Path, ranks: Sequence[int]) -> None:
        self._folder = folder
        self._ranks = ranks

    def __len__(self) -> int:
        return len(self._ranks)

    @overload
    def __getitem__(self, index: int) -> tuple[int, Place]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[int, Place]]: ...
    def __getitem__(self, index: int | slice) -> tuple[int, Place] | list[tuple[int, Place]]:
        if isinstance(index, int):
            return self._read([self._ranks[index]])[0]
        return self._read(self._ranks[index])

    def _read(self, ranks: Sequence[int]) -> list[tuple[int, Place]]:
        marks = ", ".join("?" * len(ranks))
        asked = f"SELECT rank, {_COLUMNS} FROM places WHERE rank IN ({marks})"  # noqa: S608
        with reading(self._folder) as database:
            rows = {row[0]: _place(row[1:]) for row in database.execute(asked, list(ranks))}
        return [(rank, rows[rank]) for rank in ranks]


def place_by_id(folder: Path, geonameid: int) -> Place | None:
    asked = f"SELECT {_COLUMNS} FROM places WHERE geonameid = ?"  # noqa: S608
    with reading(folder) as database:
        row = database.execute(asked, [geonameid]).fetchone()
    return _place(row) if row else None


def places_by_ids(folder: Path, geonameids: Sequence[int]) -> list[Place]:
    """Those that are there, most populous first."""
    asked = (
        f"SELECT {_COLUMNS} FROM places "  # noqa: S608
        "WHERE geonameid IN (SELECT value FROM json_each(?)) ORDER BY rank"
    )
    with reading(folder) as database:
        return [_place(row) for row in database.execute(asked, [json.dumps(list(geonameids))])]


def matching_places(
    folder: Path, *, text: str, country: str | None = None, likely_first: bool = False
) -> PlaceMatches:
    """Places of which one name has, for each word of the text, a word that begins with it: the
    most populous first, or those that the text most likely means.

    Any text is a search: accents, case and punctuation make no difference, a GeoNames id finds
    its place, and a text without any letter or digit finds nothing.
    """
    text = text[:MOST_CHARACTERS]
    with reading(folder) as database:
        ranks = _ranks(database, text) if text.strip() else _all_ranks(database)
        if country is not None:
            asked = "SELECT rank FROM places WHERE country = ?"
            there = {rank for (rank,) in database.execute(asked, [country])}
            ranks = [rank for rank in ranks if rank in there]
        wanted = words(text)[:MOST_WORDS]
        if likely_first and wanted:
            ranks = best_first(database, wanted, ranks)
    return PlaceMatches(folder, ranks)


def country_facts(folder: Path) -> list[CountryFacts]:
    """All countries, by code: the order of their domain."""
    asked = "SELECT rank, code, name, continent, regions, largest FROM countries ORDER BY rank"
    with reading(folder) as database:
        return [CountryFacts(*row) for row in database.execute(asked)]


def region_countries(folder: Path) -> list[str]:
    """The country of each region, in the order of the region domain."""
    with reading(folder) as database:
        return [code for (code,) in database.execute("SELECT country FROM places ORDER BY rank")]


def place_domains(folder: Path) -> tuple[str, str]:
    """The hashes of the two domains the file describes: regions and countries."""
    try:
        return _place_domains(folder, version_of(folder))
    except OSError:
        return _place_domains(folder, None)  # says what is wrong


@lru_cache(maxsize=1)
def _place_domains(folder: Path, version: Version | None) -> tuple[str, str]:
    with reading(folder) as database:
        regions, countries = database.execute("SELECT regions, countries FROM about").fetchone()
    return regions, countries


def _all_ranks(database: sqlite3.Connection) -> Sequence[int]:
    (count,) = database.execute("SELECT COUNT(*) FROM places").fetchone()
    return range(count)


def _ranks(database: sqlite3.Connection, text: str) -> Sequence[int]:
    wanted = words(text)[:MOST_WORDS]
    found: set[int] = set()
    if wanted:
        # Words hold neither quotes nor operators; quoted, not even AND means anything.
        expression = " ".join(f'"{word}"*' for word in wanted)
        asked = f"SELECT DISTINCT rowid >> {NAME_BITS} FROM names WHERE names MATCH ?"  # noqa: S608
        found.update(rank for (rank,) in database.execute(asked, [expression]))
    if len(wanted) == 1 and wanted[0].isascii() and wanted[0].isdigit():
        asked = "SELECT rank FROM places WHERE geonameid = ?"
        found.update(rank for (rank,) in database.execute(asked, [_id(wanted[0])]))
    return sorted(found)


def _id(digits: str) -> int:
    return int(digits) if len(digits) <= 18 else -1


def _place(row: Sequence[object]) -> Place:
    fields: dict[str, Any] = dict(zip(_COLUMNS.split(", "), row, strict=True))
    fields["other_names"] = tuple(fields["other_names"].splitlines())
    return Place(**fields)
