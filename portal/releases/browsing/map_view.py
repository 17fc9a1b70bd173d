"""What a map shows, as its address says it: which metric, where, of which rows, in what colour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlencode

from portal.charts import AREAS
from portal.releases.browsing.best import best_values
from portal.releases.browsing.choosing import field_name, held_values, one_of
from portal.releases.browsing.tables import Tables
from portal.streams import selectors as streams

COLOURS: Final = {
    "": "one colour",
    "share": "share",
    "person": "per inhabitant",
    "change": "change since the window before",
}
# What a map shows unless it is asked for less; without a word, where the numbers are.
WORLD: Final = "world"
# Words of an address that a map understands, beside keys.
_WORDS: Final = ("metric", "within", "colour", "uncertainty")


@dataclass(frozen=True)
class MapView:
    metric: str
    where: Mapping[str, str] = field(default_factory=dict)
    # A country to look into, by its code; an area; or the world. Empty: where the numbers are.
    within: str = ""
    colour: str = ""
    uncertainty: bool = False

    @classmethod
    def parse(cls, asked: Mapping[str, str], tables: Tables) -> MapView:
        """What is asked for; if nothing is, something that shows."""
        if not any(name in asked for name in (*_WORDS, *map(field_name, tables.keys))):
            return cls.first(tables)
        where = held_values(asked, tables, but={tables.region_key, tables.country_key})
        codes = [one.code for one in streams.countries()]
        return cls(
            metric=one_of(asked.get("metric", ""), tables.metrics, "metric", tables.metrics[0]),
            where=where,
            within=one_of(_spelt(asked.get("within", "")), [WORLD, *AREAS, *codes], "country", ""),
            colour=one_of(asked.get("colour", ""), tuple(COLOURS), "colour", ""),
            uncertainty=asked.get("uncertainty") == "1",
        )

    @classmethod
    def first(cls, tables: Tables) -> MapView:
        """Everything; where noise drowns that, the value of a key that most places show."""
        metric, place = tables.metrics[0], tables.region_key or tables.country_key
        if not place or tables.count([place], metric):
            return cls(metric)
        for key in tables.keys:
            if key in (tables.region_key, tables.country_key):
                continue
            if held := best_values(tables, metric, [place, key], key):
                return cls(metric, where={key: held[0]})
        return cls(metric)

    @property
    def country(self) -> str:
        """The code of the one it looks into, if any."""
        return "" if self.within in ("", WORLD, *AREAS) else self.within

    @property
    def area(self) -> str:
        return self.within if self.within in AREAS else ""

    def but(self, within: str) -> MapView:
        return replace(self, within=within)

    @property
    def query(self) -> str:
        held = {field_name(key): value for key, value in self.where.items()}
        said = {"metric": self.metric, **held, "within": self.within, "colour": self.colour}
        said["uncertainty"] = "1" if self.uncertainty else ""
        return urlencode({name: value for name, value in said.items() if value})


def _spelt(within: str) -> str:
    """Areas are words, countries codes."""
    return within.lower() if within.lower() in (WORLD, *AREAS) else within.upper()
