"""Which places a release has numbers for: a handful of fifty thousand, to begin with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from portal.releases.browsing.tables import Tables
from portal.releases.querying import quoted, remembered
from portal.streams.folding import words

# As many as a page lists.
MOST: Final = 60
# More than there are places.
_ALL: Final = 1_000_000


@dataclass(frozen=True)
class PlacesShown:
    # Whether they are countries.
    are_countries: bool
    count: int
    # Values and names of those with most numbers, in the order of their names.
    listed: tuple[tuple[str, str], ...]

    @property
    def noun(self) -> str:
        one, many = ("country", "countries") if self.are_countries else ("place", "places")
        return one if self.count == 1 else many

    @property
    def others(self) -> int:
        return self.count - len(self.listed)


def places_shown(tables: Tables) -> PlacesShown | None:
    """Those with a number in some table; nothing where a release is of no places, or shows none.

    Emissions do not count: where the factor is 0 they are known of places that nobody is in.
    """
    key = tables.region_key or tables.country_key
    found = _found(tables, key, MOST) if key else ()
    if not found:
        return None
    name = tables.name_of(key)
    named = [(str(value), name(value)) for value, _, _ in found]
    named.sort(key=lambda one: words(one[1]))
    return PlacesShown(key != tables.region_key, int(found[0][2]), tuple(named))


def values_shown(tables: Tables, key: str) -> frozenset[str]:
    """All values of a key with a number in some table, in the same sense."""
    return (
        frozenset(value for value, _, _ in _found(tables, key, most=_ALL)) if key else frozenset()
    )


def _found(tables: Tables, key: str, most: int) -> tuple[tuple[str, int, int], ...]:
    """Each with its rows, and how many there are in all."""
    files = [one for one in tables.shown.files if not one.is_emissions]
    layouts = [one for one in map(tables.shown.layout, files) if key in one.keys]
    rows = " UNION ALL ".join(
        f"SELECT {quoted(key)}::VARCHAR AS place FROM read_parquet(?) "  # noqa: S608 - quoted names
        f"WHERE coalesce({', '.join(quoted(column.value) for column in one.columns)}) IS NOT NULL"
        for one in layouts
    )
    statement = (
        f"SELECT place, COUNT(*), COUNT(*) OVER () FROM ({rows}) "  # noqa: S608 - quoted names
        "GROUP BY place ORDER BY 2 DESC, 1 LIMIT ?"
    )
    first, *rest = [one.file for one in layouts]
    return remembered(first, statement, (*(str(one.path) for one in rest), most))
