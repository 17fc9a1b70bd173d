"""Maps of a part of the world, and of amounts per inhabitant."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from django.test import Client

from portal.releases.browsing.map_spots import Spot, alike, told_changes, told_spread
from portal.releases.browsing.mapping import MapView, map_of
from portal.releases.browsing.tables import Tables
from portal.releases.models import Release
from portal.releases.reading import Number
from tests.portal.releases.browsing.conftest import BERLIN, PARIS, SECOND
from tests.portal.releases.browsing.test_browsing_pages import main, words

AT = f"/releases/trips-by-region/{SECOND}"


def number(value: float, half_width: float) -> Number:
    return Number("num_trips", value, half_width, None, None, None, ())


def spot(now: Number, before: Number | None) -> Spot:
    return Spot("1", "Here", now, "", "/places/1", before=before)


def test_a_change_is_told_with_its_interval_and_whether_it_could_be_noise() -> None:
    noise = spot(number(110, 20), number(100, 20)).shade
    clear = spot(number(300, 20), number(100, 20)).shade
    assert noise
    assert clear
    assert (noise.value, noise.is_noise) == (10.0, True)
    assert (clear.value, clear.is_noise) == (200.0, False)
    assert noise.half_width
    assert noise.half_width > 20


def test_changes_are_counted_in_a_sentence() -> None:
    spots = [
        spot(number(110, 20), number(100, 20)),
        spot(number(300, 20), number(100, 20)),
        spot(number(300, 20), None),
    ]
    assert told_changes(spots) == (
        "Of 3 that are shown, 1 grew and 0 shrank by more than the noise; 1 changed within the "
        "noise; 1 had nothing shown before."
    )


def test_changes_are_counted_beside_what_noise_alone_would_give() -> None:
    same = spot(number(110, 20), number(100, 20))
    told = told_changes([same] * 1_955 + [spot(number(300, 20), number(100, 20))] * 45)
    assert (
        "45 grew and 0 shrank by more than the noise (about 100 would even without any change)"
        in told
    )


def test_a_share_is_of_all_or_says_of_what(tables: Tables) -> None:
    driving = {"activity": "driving"}
    found = map_of(MapView("num_trips", where=driving, colour="share"), tables, None)
    paris = next(one for one in found.places if one.id == str(PARIS))
    assert paris.shade
    # Activities are in proportion to their rank: 5 of 45.
    assert abs(paris.shade.value - 100 * 5 / 45) < 0.1
    assert paris.shade.half_width
    assert "together" not in found.told
    part = replace(paris, among=("driving", "bus"))
    among = replace(found, places=(part,))
    assert among.told.startswith(
        "In most of these places noise drowns the sum over all: these are shares of driving and "
        "bus together."
    )
    assert among.colour_title == "Share in % among driving and bus"
    assert "these are shares of driving and bus together" in said_in(among.svg())
    assert "together" not in among.figure


@pytest.mark.parametrize("path", ["map/embed", "map.svg"])
def test_a_map_on_other_sites_says_what_its_page_says(path: str, released: list[Release]) -> None:
    page = Client().get(f"{AT}/{path}?colour=person").content.decode()
    assert "phones per inhabitant rank higher" in said_in(page)
    page = Client().get(f"{AT}/{path}?colour=change").content.decode()
    assert "shrank by more than the noise" in said_in(page)


def said_in(svg: str) -> str:
    """Its words, also those that go on in a next line."""
    return " ".join(re.sub(r"<[^>]*>", " ", svg).split())


def test_a_map_whose_places_all_could_be_the_same_says_so() -> None:
    def of(*shares: float, half_width: float = 5) -> list[Spot]:
        return [
            replace(spot(number(9, 1), None), measure=number(one, half_width)) for one in shares
        ]

    assert "All of them could be the same" in told_spread(of(28, 31, 34))
    assert told_spread(of(28, 31, 60)) == ""
    assert told_spread(of(28)) == ""
    # The largest and the smallest are uncertain, and two between them are not the same.
    assert told_spread([*of(10, 90, half_width=100), *of(30, 50)]) == ""


def test_countries_have_no_share_of_something_else_than_places() -> None:
    share = number(11, 1)
    country = Spot("FR", "France", number(9, 1), "", "/countries/FR", measure=share)
    place = replace(country, among=("driving", "bus"))
    assert alike([country], [place])[0].shade is None
    assert alike([place], [place])[0].shade
    assert alike([country], [])[0].shade


def test_without_a_word_a_map_is_as_near_as_all_numbers_allow(tables: Tables) -> None:
    found = map_of(MapView("num_trips"), tables, None)
    assert found.areas == ("europe",)
    assert found.seen == "europe"
    assert map_of(MapView("num_trips", within="world"), tables, None).seen == "world"


def test_a_map_of_the_world_reads_its_places_once(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []
    rows = Tables.rows

    def counted(self: Tables, keys: Sequence[str], metric: str, **more: Any) -> Any:
        asked.append(tuple(keys))
        return rows(self, keys, metric, **more)

    monkeypatch.setattr(Tables, "rows", counted)
    map_of(MapView("num_trips"), tables, None)
    assert sorted(asked) == [("country",), ("region",)]


def test_parts_of_the_world_are_links_that_keep_what_was_chosen(
    client: Client, released: list[Release]
) -> None:
    page = unescape(main(client.get(f"{AT}/map?activity=driving&colour=change")))
    assert re.search(r'href="\?[^"]*within=world[^"]*colour=change"[^>]*>World</a>', page)
    assert re.search(r'within=europe[^"]*" aria-current="true">Europe</a>', page)
    assert ">Asia</a>" not in page


def test_a_continent_has_its_own_places_and_title(client: Client, released: list[Release]) -> None:
    page = client.get(f"{AT}/map?within=europe")
    assert "Trips by place in Europe" in words(page)
    assert f"/places/{PARIS}" in main(page)
    assert f"/places/{BERLIN}" in main(page)
    elsewhere = client.get(f"{AT}/map?within=asia")
    assert f"/places/{PARIS}" not in main(elsewhere)
    assert "Here noise drowns every number" in words(elsewhere)


def test_places_are_coloured_by_their_amount_per_inhabitant(tables: Tables) -> None:
    found = map_of(MapView("num_trips", colour="person"), tables, None)
    paris = next(one for one in found.places if one.id == str(PARIS))
    assert paris.shade
    assert paris.number.value
    assert paris.place
    expected = 1000 * paris.number.value / paris.place.population
    assert abs(paris.shade.value - expected) < 1e-6 * expected
    assert paris.shade.half_width
    assert "per 1,000 inhabitants" in found.svg()
    assert all(one.shade is None for one in found.countries)


def test_a_map_speaks_plain_words_and_names_countries(client, released):
    page = main(client.get(f"{AT}/map?metric=num_trips"))
    assert '<option value="distance_km">distance (km)</option>' in page
    said = words(client.get(f"{AT}/map?metric=num_trips"))
    assert "num_trips" not in said
    assert "Lyon, FR" in said


def test_a_map_of_a_country_tells_in_a_line_which_places_are_not_shown(client, released):
    page = main(client.get(f"{AT}/map?metric=num_trips&within=FR"))
    said = words(client.get(f"{AT}/map?metric=num_trips&within=FR"))
    assert "1 more is not shown: noise would drown it Marseille, FR . Its noise alone" in said
    assert page.count('<tr class="suppressed">') == 0


@pytest.mark.parametrize("asked", ["within=XX", "colour=blue", "activity=x", "metric=none"])
def test_a_map_that_is_not_understood_says_so_and_stays_a_map(
    asked: str, client: Client, released: list[Release]
) -> None:
    page = client.get(f"{AT}/map?{asked}")
    assert "This release has no" in words(page)
    assert "The default map is shown instead." in words(page)
    assert f'action="{AT}/map"' in main(page)
    assert f"/places/{PARIS}" in main(page)
