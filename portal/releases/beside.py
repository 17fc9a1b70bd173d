"""What is written beside the keys of a table: names of places, their country and population.

Files of a release hold ids, which never change their meaning. People want names, and "per person"
needs to know how many people live somewhere: both come from the list of places, which is public,
is no part of the release, and carries no noise.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from aggregation.release.render import WINDOW
from portal.releases.grouping import COUNTRY
from portal.releases.opening import OpenTable
from portal.streams.gazetteer import Gazetteer, PlaceFacts, gazetteer

POPULATION = "population"


@dataclass(frozen=True)
class Extra:
    """A column of ours that stands behind a key, made of the key's value."""

    key: str
    name: str
    meaning: str
    type: str
    of: Callable[[str], Any]


@dataclass(frozen=True)
class Beside:
    """All columns of a table for people: those of its file, and ours."""

    table: OpenTable

    @cached_property
    def extras(self) -> tuple[Extra, ...]:
        taken, found = set(self.file_names), []
        for extra in _extras(self.table, gazetteer()):
            name = extra.name
            # A task may have called a column so itself.
            while name in taken:
                name += "_"
            taken.add(name)
            found.append(Extra(extra.key, name, extra.meaning, extra.type, extra.of))
        return tuple(found)

    @cached_property
    def file_names(self) -> list[str]:
        layout = self.table.layout
        numbers = [n for c in layout.columns for n in (c.value, *c.beside, *c.notes)]
        return [*layout.keys, WINDOW, *numbers, layout.suppressed]

    @cached_property
    def names(self) -> list[str]:
        """All columns in their order: a key, then what stands beside it."""
        return [name for file in self.file_names for name in (file, *self._beside(file))]

    def rows(self, batch: pa.RecordBatch) -> Iterator[Sequence[Any]]:
        """The rows of a batch of the file, with our columns."""
        columns: list[list[Any]] = []
        for name, array in zip(self.file_names, batch.columns, strict=True):
            columns.append(array.to_pylist())
            columns += [_each(array, extra.of) for extra in self.extras if extra.key == name]
        return zip(*columns, strict=True)

    def dictionaries(self, rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
        """Rows of the file by the names of their columns, with our columns."""
        found = []
        for row in rows:
            known = dict(zip(self.file_names, row, strict=True))
            known |= {extra.name: extra.of(known[extra.key]) for extra in self.extras}
            found.append({name: known[name] for name in self.names})
        return found

    def _beside(self, key: str) -> list[str]:
        return [extra.name for extra in self.extras if extra.key == key]


def _each(array: Any, of: Callable[[str], Any]) -> list[Any]:
    """Of each value once, however many rows have it."""
    coded = array.dictionary_encode()
    made = [of(value) for value in coded.dictionary.to_pylist()]
    return [made[code] for code in coded.indices.to_pylist()]


def _extras(table: OpenTable, known: Gazetteer) -> Iterator[Extra]:
    region = table.region_key

    def fact(name: str) -> Callable[[str], Any]:
        def of(value: str) -> Any:
            place: PlaceFacts | None = known.places.get(value)
            return getattr(place, name) if place else None

        return of

    if region:
        yield Extra(region, f"{region}_name", "Name of the place.", "text", fact("name"))
        if table.layout.has_countries:
            meaning = "Country the place lies in, ISO 3166 alpha-2."
            yield Extra(region, COUNTRY, meaning, "text", fact("country"))
        meaning = "People who live there, as GeoNames says; not released, and without noise."
        yield Extra(region, POPULATION, meaning, "integer", fact("population"))
    for key in table.country_keys:
        yield Extra(key, f"{key}_name", "Name of the country.", "text", known.countries.get)
