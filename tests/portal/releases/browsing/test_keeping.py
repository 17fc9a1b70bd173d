"""What was chosen stays so on other pages of a release, and in other windows."""

import html
import re

import pytest
from django.http import QueryDict

from portal.releases.browsing.keeping import kept
from tests.portal.releases.browsing.conftest import FIRST, LYON
from tests.portal.releases.browsing.test_browsing_pages import AT, TASK, main

CYCLING = "metric=distance_km&by=region&activity=cycling"
OTHER = f"/releases/{TASK}/{FIRST}"
HTMX = {"HX-Request": "true"}


def queries(page, query, tables):
    return kept(page, QueryDict(query), tables)


def links(client, address) -> list[str]:
    page = client.get(address).content.decode()
    return [html.unescape(one) for one in re.findall(r'href="([^"]+)"', page)]


def test_a_chart_goes_on_as_a_map_and_as_its_table(tables):
    found = queries("release", f"{CYCLING}&country=FR&measure=share", tables)
    assert found["release_map"] == "metric=distance_km&activity=cycling&within=FR&colour=share"
    assert found["release_table"] == "table=cells&activity=cycling&country=FR&sort=-distance_km"
    assert found["compare"] == "metric=distance_km&place=FR"


def test_a_map_goes_on_as_a_chart_of_its_places(tables):
    found = queries("release_map", "metric=distance_km&activity=cycling&within=FR", tables)
    assert found["release"] == "metric=distance_km&by=region&activity=cycling&country=FR"
    assert found["release_table"] == "table=cells&activity=cycling&country=FR&sort=-distance_km"


def test_a_table_goes_on_by_the_key_that_is_not_held(tables):
    found = queries("release_table", "table=cells&activity=cycling&sort=-distance_km", tables)
    assert found["release"] == CYCLING
    assert found["release_map"] == "metric=distance_km&activity=cycling"
    several = queries("release_table", "table=cells&activity=bus&activity=train", tables)
    assert "activity" not in several["release"]


def test_nothing_chosen_is_nothing_kept(tables):
    assert queries("release", "", tables) == {}
    assert queries("release_table", "page=3", tables) == {}


@pytest.mark.parametrize("tab", ["", "/map", "/table"])
def test_another_window_has_the_same_page_with_the_same_choice(client, released, tab):
    query = "table=cells&activity=cycling" if tab == "/table" else "metric=distance_km&by=region"
    assert f"{OTHER}{tab}?{query}" in links(client, f"{AT}{tab}?{query}")


def test_every_tab_understands_what_it_is_given(client, released):
    asked = {
        "": f"{CYCLING}&top=5&layout=stacked&log=1&sort=name",
        "/map": f"metric=distance_km&activity=cycling&region={LYON}&within=FR&colour=share",
        "/table": f"table=cells&activity=cycling&region={LYON}&shown=0&parts=1&sort=-num_trips",
    }
    for page, query in asked.items():
        found = [one for one in links(client, f"{AT}{page}?{query}") if one.startswith(AT)]
        tabs = [one for one in found if "activity=cycling" in one and "files" not in one]
        assert len(tabs) >= 3, page
        for address in tabs:
            answer = client.get(address)
            assert answer.status_code == 200, address
            if not address.startswith(f"{AT}/chart"):
                assert 'role="alert"' not in answer.content.decode(), address


def test_what_a_form_changes_is_kept_without_a_new_page(client, released):
    """Strip, tabs and the way to compare come along, and htmx puts them in place."""
    for page, inner in (("", "chart-title"), ("/map", "map-title")):
        address = f"{AT}{page}?metric=distance_km&activity=cycling"
        part = client.get(address, headers=HTMX).content.decode()
        assert part.count('hx-swap-oob="true"') == 3, page
        assert inner in part
        assert f"{OTHER}{page}?metric=distance_km&amp;activity=cycling" in part
        assert 'hx-swap-oob="true"' not in main(client.get(address))
