"""Places that a query names by their ids, in words that a reader knows."""

import re
from dataclasses import dataclass

from aggregation.errors import Problem
from portal.streams import selectors as streams

# Literals that look like an id; a query names few.
_ID = re.compile(r"'(\d{1,18})'")
_MOST = 50


@dataclass(frozen=True)
class NamedPlace:
    value: str
    name: str
    country: str


def places_named_in(sql: str) -> list[NamedPlace]:
    """In the order in which the query names them; text that is no region's id is left out."""
    ids = list(dict.fromkeys(_ID.findall(sql)))[:_MOST]
    try:
        found = {value: place for value in ids if (place := streams.place(value))}
        countries = {each.code: each.name for each in streams.countries()} if found else {}
    except Problem:
        return []  # streams without a file of places
    return [
        NamedPlace(value, place.name, countries.get(place.country, place.country))
        for value, place in found.items()
    ]
