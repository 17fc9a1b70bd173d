"""What can be chosen to be compared: never a thing with itself, and what a form holds is meant."""

import re
from html import unescape

import pytest
from django.test import Client

from portal.releases import views_compare
from portal.streams.geography import GEONAMES, Geography
from tests.portal.releases.browsing.conftest import BERLIN, FIRST, LYON, PARIS, SECOND
from tests.portal.releases.browsing.test_browsing_pages import TASK, main, words
from tests.portal.releases.browsing.test_odd_addresses import _make_internal

AT = f"/releases/compare?task={TASK}"
SAME = "Both sides are the same"
PARIS_TEXAS, SINGAPORE = 4717560, 1880252
# Of Missouri and of Illinois: the former is the larger one.
SPRINGFIELD, OTHER_SPRINGFIELD = 4409896, 4250542


@pytest.fixture(scope="session")
def few() -> Geography:
    """Places that share their names with others."""
    whole = GEONAMES.load()
    ids = (PARIS, LYON, BERLIN, PARIS_TEXAS, SINGAPORE, SPRINGFIELD, OTHER_SPRINGFIELD)
    places = [place for place in whole.places if place.geonameid in ids]
    assert len(places) == len(ids)
    there = {place.country for place in places}
    return Geography(places, [one for one in whole.countries if one.code in there])


def offers(response) -> list[str]:
    found = re.search(r"Places with most to compare: (.*?)</p>", main(response), re.S)
    return [unescape(one) for one in re.findall(r'href="([^"]+)"', found.group(1))] if found else []


def sides(response) -> tuple[str, str]:
    first, second = response.context["found"].sides
    return first.label, second.label


def sent(client: Client, address: str) -> dict[str, str]:
    """Sends what the form of a page holds, and gives what both sides hold then."""
    page = client.get(address)
    holds = {
        name: unescape(re.search(rf'name="{name}" value="([^"]*)"', main(page)).group(1))
        for name in ("place", "with_place")
    }
    chosen = {"task": TASK, "window": SECOND, "with_window": FIRST, **holds}
    return client.get("/releases/compare", chosen).context["found"].sides[0].where


def test_in_one_window_each_offer_stands_beside_the_place_that_is_there(released):
    """Guests see one window only."""
    _make_internal(released[0])
    shown = Client().get("/releases/compare")
    first, _ = sides(shown)
    assert offers(shown)
    for offer in offers(shown):
        page = Client().get(f"/releases/compare{offer}")
        assert sides(page)[0] == first
        assert sides(page)[1] != first
        assert SAME not in words(page)


def test_one_place_in_one_window_is_not_compared_with_itself(released, monkeypatch):
    _make_internal(released[0])
    monkeypatch.setattr(views_compare, "places_to_compare", lambda *_, **__: [str(LYON)])
    shown = Client().get("/releases/compare")
    assert shown.context["found"] is None
    assert "Nothing here can be compared" in words(shown)


def test_in_two_windows_each_offer_stands_in_both(client, released):
    for offer in offers(client.get(AT)):
        first, second = sides(client.get(f"/releases/compare{offer}"))
        assert first.replace(SECOND, FIRST) == second


def test_the_first_window_is_compared_with_the_one_after(client, released):
    shown = client.get(f"{AT}&window={FIRST}")
    assert sides(shown) == (FIRST, SECOND)
    assert "No window before this one can be chosen" in words(shown)
    assert "There is one window so far" not in words(shown)
    assert "No window before" not in words(client.get(AT))


def test_the_same_place_of_the_same_window_on_both_sides_is_told(client, released):
    once = f"{AT}&window={SECOND}&with_window={SECOND}&place={LYON}"
    for address in (once, f"{once}&with_place=Lyon", f"{AT}&place={LYON}&with_place={LYON}"):
        shown = client.get(address)
        assert f"{SAME}: Lyon in one window." in words(shown)
        assert "Nothing differs" not in words(shown)
        assert sides(client.get(f"/releases/compare{offers(shown)[0]}"))[0].startswith("Lyon, ")


def test_the_same_window_on_both_sides_is_told_apart_from_there_being_one(client, released):
    said = words(client.get(f"{AT}&window={SECOND}&with_window={SECOND}"))
    assert "Both sides have the same window, so this compares places in it" in said


def test_places_that_are_no_longer_installed_are_not_offered(released, client, monkeypatch):
    """As where the release is older than the list of places."""
    values = ["999999999", "ZZ", str(LYON), str(BERLIN)]
    monkeypatch.setattr(views_compare, "places_to_compare", lambda *_, **__: values)
    shown = client.get(AT)
    assert 'role="alert"' not in main(shown)
    assert [name for name, *_ in shown.context["offers"]] == ["Lyon", "Berlin"]
    one = client.get(f"{AT}&window={SECOND}&with_window={SECOND}")
    assert sides(one) == (f"Lyon, {SECOND}", f"Berlin, {SECOND}")


@pytest.mark.parametrize("place", [PARIS, PARIS_TEXAS, SINGAPORE, SPRINGFIELD, OTHER_SPRINGFIELD])
def test_a_place_stays_the_same_when_the_form_is_sent(client, released, place):
    assert sent(client, f"{AT}&place={place}") == {"region": str(place)}


def test_a_country_stays_a_country_when_the_form_is_sent(client, released):
    assert sent(client, f"{AT}&place=SG") == {"country": "SG"}


def test_a_form_holds_names_with_their_countries(client, released):
    assert client.get(f"{AT}&place={PARIS_TEXAS}").context["places"] == ["Paris, US"] * 2


def test_a_task_that_is_not_there_is_told_with_those_that_are(client, released):
    said = unescape(words(client.get("/releases/compare?task=nope")))
    assert f"There is no task to compare that is called 'nope'. There is only {TASK}." in said
