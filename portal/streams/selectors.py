"""Reading the streams catalog: streams, columns, domains and places."""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from django.conf import settings

from aggregation.protocol.streams import Catalog
from portal.streams import places
from portal.streams.describing import StreamFacts
from portal.streams.geography import Place
from portal.streams.places import CountryFacts
from portal.streams.values import DomainValue, PlaceValues, country_values, plain_values

Kind = Literal["regions", "countries", "plain"]


def installed_catalog() -> Catalog:
    """The streams installed here. Opened once a process, and again when they are installed anew.

    Its domains are mapped into memory: all processes share one copy of their pages.
    """
    folder = streams_folder()
    try:
        stat = os.stat(folder / "catalog.json")
    except FileNotFoundError:
        return Catalog.open(folder)  # says what to do
    return _catalog(folder, (stat.st_mtime_ns, stat.st_ino, stat.st_size))


def streams() -> list[StreamFacts]:
    catalog = installed_catalog()
    return [StreamFacts.of(stream, catalog) for stream in catalog]


def stream(name: str) -> StreamFacts | None:
    catalog = installed_catalog()
    found = catalog.stream(name)
    return StreamFacts.of(found, catalog) if found else None


def streams_folder() -> Path:
    return Path(settings.DATA) / "streams"


def place(geonameid: int | str) -> Place | None:
    """The place with this GeoNames id, given as a number or as a value of the region column."""
    digits = str(geonameid)
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        return None
    return places.place_by_id(streams_folder(), int(digits))


def places_of(geonameids: Sequence[str]) -> list[Place]:
    """The places with these ids, most populous first."""
    return places.places_by_ids(streams_folder(), [int(one) for one in geonameids])


def places_matching(text: str, *, country: str | None = None, limit: int = 20) -> list[Place]:
    """Places that a text matches, the likeliest first; see `places.matching_places`."""
    found = places.matching_places(streams_folder(), text=text, country=country, likely_first=True)
    return [place for _, place in found[:limit]]


def all_places_matching(text: str) -> places.PlaceMatches:
    """All of them, the likeliest first, to be cut into pages."""
    return places.matching_places(streams_folder(), text=text, likely_first=True)


def countries() -> list[CountryFacts]:
    return places.country_facts(streams_folder())


def domain_values(*, domain: str, text: str = "") -> Sequence[DomainValue]:
    """The values of a domain, in its order, that a text matches; all for an empty text.

    A sequence to be cut into pages: of the 50,000 regions only the page that is asked for is read.
    """
    folder, kind = streams_folder(), kind_of_domain(domain)
    if kind == "regions":
        names = {country.code: country.name for country in places.country_facts(folder)}
        return PlaceValues(places.matching_places(folder, text=text), names, text)
    if kind == "countries":
        return country_values(places.country_facts(folder), text)
    return plain_values(installed_catalog().domain(domain), domain, text)


def kind_of_domain(domain: str) -> Kind:
    """Regions and countries have places behind their values; others are what they say."""
    regions, country_codes = places.place_domains(streams_folder())
    return "regions" if domain == regions else "countries" if domain == country_codes else "plain"


@lru_cache(maxsize=1)
def _catalog(folder: Path, version: tuple[int, int, int]) -> Catalog:
    return Catalog.open(folder)
