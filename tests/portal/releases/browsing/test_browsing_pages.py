"""Pages of places, maps, comparisons and emissions: for everyone who may see the releases."""

import re
from html import unescape
from xml.etree import ElementTree

from django.test import Client

from tests.portal.releases.browsing.conftest import (
    BERLIN,
    FIRST,
    LYON,
    MARSEILLE,
    MUNICH,
    PARIS,
    SECOND,
)

TASK = "trips-by-region"
AT = f"/releases/{TASK}/{SECOND}"


def main(response) -> str:
    found = re.search(r"<main.*</main>", response.content.decode(), re.S)
    assert found, response.content[:200]
    return found.group()


def words(response) -> str:
    """Without markup, and with single spaces."""
    text = re.sub(r"<(svg|style|select).*?</\1>", " ", main(response), flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def times_told(said: str) -> list[float]:
    """How many times as much as the day before something is, as often as it is said."""
    found = re.findall(r"([\d.]+) ± [\d.]+ times as much as the day before \(\+", said)
    assert found
    return [float(one) for one in found]


def test_a_release_in_words(client, released):
    said = words(client.get(AT))
    assert "On 2026-11-18 people made" in said
    assert re.search(
        r"times as much as the day before \(\+[\d.,]+ ± [\d.,]+[ a-z]* trips\); "
        r"the change is larger than the noise\.",
        said,
    )
    assert all(1.95 < times < 2.05 for times in times_told(said))
    assert "95 times in 100 the true sum lies between" in said
    # This task has no fit of what clipping takes away: its intervals are of noise alone.
    assert re.search(r"lies between [\d., a-z]+, but for what clipping took away\.", said)
    assert "on 2026-11-17" not in said.lower()


def test_the_first_release_is_compared_with_nothing(client, released):
    said = words(client.get(f"/releases/{TASK}/{FIRST}"))
    assert "day before" not in said


def test_the_newest_release_has_an_address_that_stays(client, released):
    assert client.get(f"/releases/{TASK}").headers["Location"] == AT
    assert client.get("/releases/none-such").status_code == 404


def test_a_chart_alone_is_what_a_form_asks_for(client, released):
    part = client.get(f"{AT}?by=region", headers={"HX-Request": "true"}).content.decode()
    assert "<svg" in part
    assert "<main" not in part
    # Nor does a cache take the one for the other.
    assert "HX-Request" in client.get(AT).headers["Vary"]


def test_a_bad_address_is_told_and_something_is_shown(client, released):
    for path in ("?by=regoin", "?metric=none", "?region=Atlantis", "?top=x"):
        page = main(client.get(AT + path))
        assert 'role="alert"' in page, path
        assert "<svg" in page, path


def test_charts_are_kept_as_files(client, released):
    for name in ("chart.svg?by=region&second=activity", "map.svg", "map.svg?within=FR&theme=dark"):
        response = client.get(f"{AT}/{name}")
        assert response.headers["Content-Type"] == "image/svg+xml"
        drawn = ElementTree.fromstring(response.content)  # noqa: S314 - our own
        said = " ".join(drawn.itertext())
        assert f"{TASK}, 18 Nov 2026. ε = 0.5 for each device and day" in said
        assert AT in said.split("Source: Mayfly, ")[1]
    assert client.get(f"{AT}/chart.svg?by=x").status_code == 400


def test_charts_stand_in_frames_of_other_sites_and_pages_do_not(client, released):
    for path in (f"{AT}/embed?by=region", f"{AT}/map/embed"):
        headers = Client().get(path).headers
        assert "frame-ancestors *" in headers["Content-Security-Policy"]
        assert "X-Frame-Options" not in headers
    headers = client.get(AT).headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"


def test_a_frame_says_whether_the_first_is_certain_and_who_takes_part(released):
    page = Client().get(f"{AT}/embed?metric=num_trips&by=region&measure=amount")
    said = " ".join(re.sub(r"<[^>]+>", " ", page.content.decode()).split())
    assert re.search(r"comes first with .+?, then .+? is (larger than|within) the noise", said)
    assert "places where more people take part, rank higher" in said


def test_the_line_to_embed_a_chart_fits_its_height_and_any_width(client, released):
    heights = [
        int(re.search(r'width="100%" height="(\d+)"', unescape(main(client.get(at))))[1])
        for at in (f"{AT}?by=activity", f"{AT}?by=region&activity=cycling", f"{AT}/map")
    ]
    assert len(set(heights)) == 3


def test_a_map_has_every_place_that_is_shown_and_says_so_of_the_others(client, released):
    page = main(client.get(f"{AT}/map"))
    assert page.count(f"/places/{PARIS}") >= 2  # on the map, and in its table
    assert f"/places/{MARSEILLE}" not in page
    within = main(client.get(f"{AT}/map?within=FR"))
    assert f"/places/{MARSEILLE}" in within
    assert f"/places/{BERLIN}" not in within
    assert "not shown" in within


def test_colours_of_a_map_are_shares_and_changes(client, released):
    changes = words(client.get(f"{AT}/map?colour=change"))
    told = r"\+[\d,]+ ± [\d,]+ \(\+(?:100|99)[.\d]* %, from \+99[.\d]* to \+100[.\d]* %\) clear"
    assert len(re.findall(told, changes)) >= 3
    assert "4 grew and 0 shrank by more than the noise" in changes
    shares = words(client.get(f"{AT}/map?colour=share&activity=driving"))
    # Activities are in proportion to their rank: 5 of 45.
    assert len(re.findall(r"11\.1\d* ± 0\.\d+", shares)) >= 2


def test_a_map_of_changes_says_what_it_lacks(client, released):
    first = words(client.get(f"/releases/{TASK}/{FIRST}/map?colour=change"))
    assert "Nothing of the window before is shown here" in first
    assert "choose a value to colour by its share" in words(client.get(f"{AT}/map?colour=share"))


def test_places_are_found_whatever_the_accents(client, released):
    for text in ("münchen", "Munchen", "MUNICH", str(MUNICH)):
        assert f"/places/{MUNICH}" in main(client.get("/places", {"q": text})), text
    assert "/countries/FR" in main(client.get("/places", {"q": "france"}))
    assert "No place is called that" in main(client.get("/places", {"q": "xyzzy"}))


def test_countries_are_listed_by_their_names(client, released):
    page = main(client.get("/places"))
    # Germany is DE and France FR: by code it would be the other way round.
    assert page.index("/countries/FR") < page.index("/countries/DE")


def test_while_one_types_the_first_few_are_suggested(client, released):
    part = client.get("/places?q=par", headers={"X-Suggest": "1"}).content.decode()
    assert f"/places/{PARIS}" in part
    assert "<main" not in part
    assert client.get("/places?q=", headers={"X-Suggest": "1"}).content.strip() == b""


def test_a_place_over_time_beside_its_country_and_since_the_day_before(client, released):
    page = client.get(f"/places/{LYON}?metric=distance_km&activity=cycling")
    said = words(page)
    assert "people in Lyon cycled" in said
    assert "Over time" in said
    assert said.count("2026-11-17") >= 1
    whole = words(client.get(f"/places/{LYON}"))
    assert "Beside France" in whole
    assert "Clearly different" in whole


def test_a_place_says_what_its_sentences_count_and_sorts_its_rows_by_size(client, released):
    page = client.get(f"/places/{LYON}")
    assert "Each sentence counts every activity." in words(page)
    compared = main(page).split('id="since"')[1]
    assert re.findall(r'<th scope="row">(\w+)', compared)[:3] == ["flying", "subway", "train"]


def test_a_task_that_says_nothing_of_a_place_is_named_with_those_that_do(client, released):
    said = words(client.get(f"/places/{LYON}?task=nothing"))
    assert "There is no task about this place that is called" in said
    assert f"There is only {TASK}." in said


def test_places_with_numbers_are_told_from_those_without(client, released):
    page = main(client.get("/places"))
    first, rest = page.split("All countries")
    assert "Countries with numbers" in first
    assert "/countries/FR" in first
    assert "or for 4 of their places" in first
    assert "/countries/DE" in rest
    found = main(client.get("/places?q=mar"))
    assert f"/places/{MARSEILLE}" in found
    assert "has numbers" not in found
    assert "has numbers" in main(client.get("/places?q=lyon"))
    country = main(client.get("/countries/FR")).split("Its places with numbers")[1]
    assert f"/places/{LYON}" in country.split("Its largest places")[0]
    assert f"/places/{MARSEILLE}" not in country.split("Its largest places")[0]


def test_of_a_search_that_is_longer_than_any_name_the_rest_is_not_read(client: Client) -> None:
    """Ten thousand marks on one letter took minutes of a processor, and anybody may search."""
    marks = "a" + 1000 * "\u0301" + 1000 * "\u0316"
    for headers in ({}, {"X-Suggest": "1"}):
        answer = client.get("/places", {"q": marks}, headers=headers)
        assert (answer.status_code, len(answer.context["q"])) == (200, 200)


def test_a_place_with_nothing_to_show_says_why(client, released):
    said = words(client.get(f"/places/{MARSEILLE}"))
    assert "is not shown. Its noise alone would be more than about ± 25 % of its" in said


def test_a_country_has_its_page(client, released):
    assert "people in France travelled" in words(client.get("/countries/FR"))
    assert client.get("/countries/fr").headers["Location"] == "/countries/FR"
    assert client.get("/countries/ZZ").status_code == 404
    assert client.get("/places/1").status_code == 404


def test_two_windows_and_two_places_are_compared(client, released):
    said = words(client.get(f"/releases/compare?task={TASK}"))
    assert "2026-11-18 and 2026-11-17" in said
    assert "Clearly different" in said
    places = words(client.get(f"/releases/compare?task={TASK}&place=Lyon&with_place=Paris"))
    assert "Lyon, 2026-11-18 and Paris, 2026-11-18" in places
    shares = words(
        client.get(f"/releases/compare?task={TASK}&place=Lyon&with_place=Paris&shares=1")
    )
    # The two have the same split: of nine differences, one in twenty is more than the noise.
    assert shares.count("within the noise") >= 6


def test_emissions_with_their_factors_and_a_scenario(client, released):
    said = words(client.get("/emissions"))
    assert "people emitted" in said
    assert "Scenario, not a measurement" in said
    assert "UK Government (BEIS, Defra)" in said
    france = words(client.get("/emissions?country=FR&electric=100"))
    assert "people in France emitted" in france
    assert "100 %" in france
    for bad in ("electric=101", "electric=x", "occupancy=0", "occupancy=nan", "country=ZZ"):
        assert 'role="alert"' in main(client.get(f"/emissions?{bad}")), bad


def test_guests_see_what_is_public(released, settings):
    paths = (AT, f"{AT}/map", f"{AT}/table", f"/places/{LYON}", "/countries/FR", "/emissions",
             "/places", "/releases/compare")  # fmt: skip
    for path in paths:
        assert Client().get(path).status_code == 200, path
    settings.PUBLIC_RELEASES = False
    for path in paths:
        assert "/login" in Client().get(path).headers["Location"], path


def test_the_table_is_filtered_by_a_name_and_sorted(client, released):
    page = main(client.get(f"{AT}/table?table=cells&region=Lyon&sort=num_trips"))
    assert page.count("<tr") == 10
    assert 'aria-sort="ascending"' in page
    assert f"region={LYON}" in page  # in the addresses of its exports
    assert 'role="alert"' in main(client.get(f"{AT}/table?sort=nonsense"))
