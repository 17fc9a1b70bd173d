import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aggregation.errors import Problem
from portal.streams.geography import REGIONS_SHA256, Source
from portal.streams.selectors import (
    countries,
    domain_values,
    installed_catalog,
    place,
    places_matching,
    stream,
    streams,
)
from portal.streams.services import install_streams

pytestmark = pytest.mark.usefixtures("installed")
reads_only = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("sao paulo", "São Paulo"),
        ("SÃO PAULO", "São Paulo"),
        ("paulo sao", "São Paulo"),
        ("Zürich", "Zürich"),
        ("zurich", "Zürich"),
        ("zuri", "Zürich"),
        ("Zuerich", "Zürich"),
        ("München", "Munich"),
        ("munchen", "Munich"),
        ("東京", "Tokyo"),
        ("Москва", "Moscow"),
        ("القاهرة", "Cairo"),
        ("서울", "Seoul"),
        ("new york", "New York City"),
        ("xian", "Xi’an"),
        ("xi'an", "Xi’an"),
        ("lodz", "Łódź"),
        ("2657896", "Zürich"),
    ],
)
def test_a_search_finds_the_largest_place_of_that_name_first(text: str, name: str) -> None:
    assert places_matching(text)[0].name == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("oul", "Oulu"),
        ("OÚL", "Oulu"),
        ("par", "Paris"),
        ("pari", "Paris"),
        ("york", "York"),
        ("san f", "San Francisco"),
        ("wien", "Vienna"),
        ("munchen", "Munich"),
        ("new y", "New York City"),
    ],
)
def test_a_name_that_begins_so_comes_before_other_names_of_larger_places(
    text: str, name: str
) -> None:
    assert places_matching(text)[0].name == name


def test_among_equals_the_largest_place_comes_first() -> None:
    found = [p for p in places_matching("sant", limit=500) if p.name.startswith("Sant")]
    begin = [p.population for p in found[1:]]
    assert len(begin) > 100
    assert begin == sorted(begin, reverse=True)


def test_values_of_a_domain_keep_its_order() -> None:
    ranks = [value.index for value in domain_values(domain=REGIONS_SHA256, text="san")[:500]]
    assert ranks == sorted(ranks)


def test_a_country_narrows_the_search() -> None:
    assert places_matching("birmingham")[0].country == "GB"
    american = places_matching("birmingham", country="US")
    assert american[0].admin1 == "AL"
    assert {p.country for p in american} == {"US"}
    assert places_matching("", country="MC", limit=1)[0].country == "MC"
    assert places_matching("zurich", country="XX") == []


def test_a_limit_cuts_the_list() -> None:
    assert places_matching("santa", limit=10) == places_matching("santa", limit=20)[:10]
    assert len(places_matching("", limit=5)) == 5


@pytest.mark.parametrize(
    "text",
    [
        '"', '""', "*", "zurich*", "'", "(", ")", "NEAR(a b)", "name:x", "^a", "-a", "a AND", "OR",
        "NOT", "{a}", "a + b", "\\", "\0", "\ud800", "🙂", "👩\u200d👩\u200d👧", "%", "_", ";--",
        "9" * 400, "x" * 10_240, "a " * 5_000, "\u0301" * 50, "٣", "²", "\U0001e900",
    ],
)  # fmt: skip
def test_no_text_is_a_syntax_error(text: str) -> None:
    assert isinstance(places_matching(text), list)


@reads_only
@given(st.text(max_size=60))
def test_any_text_at_all_can_be_searched(text: str) -> None:
    for found in places_matching(text, limit=3):
        assert found.population > 0


@pytest.mark.parametrize("text", ['"', "***", "🙂", "()"])
def test_a_text_without_letters_or_digits_finds_nothing(text: str) -> None:
    assert places_matching(text) == []


def test_blank_text_finds_everything() -> None:
    assert places_matching("   ")[0].name == "Shanghai"
    assert len(domain_values(domain=REGIONS_SHA256, text=" ")) == 50_000


def test_a_place_is_found_by_its_id_as_number_or_as_text() -> None:
    zurich = place(2657896)
    assert zurich is not None
    assert zurich == place("2657896")
    assert (zurich.name, zurich.country, zurich.timezone) == ("Zürich", "CH", "Europe/Zurich")
    assert (round(zurich.latitude), round(zurich.longitude)) == (47, 9)


@pytest.mark.parametrize("geonameid", [0, -1, 10**30, "", "x", "26578 96", "２６５７８９６", "1.0"])
def test_what_is_no_id_gives_no_place(geonameid: int | str) -> None:
    assert place(geonameid) is None


def test_a_regions_index_is_that_of_the_domain() -> None:
    domain = installed_catalog().domain(REGIONS_SHA256)
    for found in domain_values(domain=REGIONS_SHA256, text="paris")[:20]:
        assert domain[found.index] == found.value
        assert found.place is not None
        assert found.value == str(found.place.geonameid)


def test_another_spelling_is_named_where_it_was_the_one_that_matched() -> None:
    munich = domain_values(domain=REGIONS_SHA256, text="münchen")[0]
    assert (munich.label, munich.also_called) == ("Munich", "München")
    assert domain_values(domain=REGIONS_SHA256, text="zurich")[0].also_called == ""


def test_countries_have_a_name_and_figures_of_their_own() -> None:
    facts = {country.code: country for country in countries()}
    assert len(facts) == 222
    assert (facts["CH"].name, facts["CH"].largest) == ("Switzerland", "Zürich")
    assert sum(country.regions for country in facts.values()) == 50_000
    code = _domain("trips", "country")
    assert [v.value for v in domain_values(domain=code, text="switz")] == ["CH"]
    assert [v.value for v in domain_values(domain=code, text="ch")][:1] == ["CH"]
    assert [v.label for v in domain_values(domain=code, text="cote d'ivoire")] == []
    assert [v.index for v in domain_values(domain=code)] == list(range(222))


def test_small_domains_are_searched_by_value_and_by_meaning() -> None:
    assert [v.value for v in _search("trips", "activity", "b")] == ["bus"]
    assert [v.value for v in _search("trips", "day_of_week", "sun")] == [6]
    assert [v.value for v in _search("assistant", "rating", "4")] == [4]
    assert _search("trips", "activity", "*") == []
    assert len(_search("trips", "hour_of_day", "")) == 24


def test_columns_know_the_size_of_their_domain() -> None:
    trips = stream("trips")
    assert trips is not None
    sizes = {facts.column.name: facts.size for facts in trips.columns}
    assert (sizes["region"], sizes["country"], sizes["activity"]) == (50_000, 222, 9)
    assert sizes["distance_km"] is None


def test_streams_are_found_by_name() -> None:
    assert [facts.stream.name for facts in streams()] == ["assistant", "trips"]
    assert stream("nothing") is None


def test_the_catalog_is_opened_once_and_again_when_it_changes(
    tmp_path: Path, installed: Path, few_places: Source, settings: Any
) -> None:
    assert installed_catalog() is installed_catalog()
    settings.DATA = tmp_path
    shutil.copytree(installed, tmp_path / "streams")
    first = installed_catalog()
    assert first is installed_catalog()
    install_streams(folder=tmp_path / "streams", tell=lambda s: None, source=few_places)
    second = installed_catalog()
    assert second is not first
    assert second.sha256 != first.sha256
    assert places_matching("zurich") == []  # too small for the 200 largest


def test_regions_are_mapped_into_memory_and_not_copied() -> None:
    domain = installed_catalog().domain(REGIONS_SHA256)
    assert isinstance(domain._array, np.memmap)
    maps = Path(f"/proc/{os.getpid()}/maps").read_text().splitlines()
    mapped = [line for line in maps if f"{REGIONS_SHA256}.npy" in line]
    assert mapped
    assert all(" r--s " in line for line in mapped)  # read-only, and shared between processes


def test_without_an_installation_it_says_how_to_get_one(tmp_path: Path, settings: Any) -> None:
    settings.DATA = tmp_path
    with pytest.raises(Problem, match=r"install_streams"):
        installed_catalog()
    with pytest.raises(Problem, match=r"install_streams"):
        places_matching("zurich")


def _domain(name: str, column: str) -> str:
    found = installed_catalog().stream(name)
    assert found is not None
    named = found.column(column)
    assert named is not None
    assert named.domain is not None
    return named.domain


def _search(name: str, column: str, text: str) -> list[Any]:
    return list(domain_values(domain=_domain(name, column), text=text))
