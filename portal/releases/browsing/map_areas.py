"""Which parts of the world a map has numbers in: those that it offers to look at."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from portal.charts import AREAS
from portal.releases.browsing.tables import Tables
from portal.releases.files import TableFile
from portal.releases.querying import ask, quoted
from portal.releases.reading import question
from portal.streams import selectors as streams
from portal.streams.gazetteer import edition, gazetteer


def areas_with_numbers(
    tables: Tables, metric: str, key: str, where: Mapping[str, str]
) -> tuple[str, ...]:
    """In the order of areas; `key` is that of places, or of countries."""
    file = tables.file([key, *where], metric)
    held = {name: [value] for name, value in where.items()}
    asked = question(tables.shown.layout(file), [], where=held, having=metric)
    conditions = " AND ".join(asked.conditions)
    statement = f"SELECT DISTINCT {quoted(key)} FROM read_parquet(?) WHERE {conditions}"  # noqa: S608 - quoted names
    codes = _countries(file, statement, tuple(asked.values), edition())
    found = {one.continent for one in streams.countries() if one.code in codes}
    return tuple(name for name, area in AREAS.items() if area.continent in found)


@lru_cache(maxsize=256)
def _countries(
    file: TableFile, statement: str, values: tuple[str, ...], _edition: str
) -> frozenset[str]:
    """Remembered, as a file never changes: of fifty thousand places only their countries, as this
    edition of places has them."""
    known = gazetteer().places
    places = [str(one) for (one,) in ask(statement, str(file.path), *values)]
    return frozenset(known[one].country if one in known else one for one in places)
