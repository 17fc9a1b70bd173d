from collections.abc import Callable

import pytest
from django.test import Client

from aggregation.protocol import device_facts
from portal.streams.describing import DEVICE_FACTS

pytestmark = pytest.mark.usefixtures("installed")


@pytest.fixture
def client(signed_in: Callable[..., Client]) -> Client:
    return signed_in("analyst")


def _page(client: Client, address: str, **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def test_the_list_shows_both_streams_with_their_figures(client: Client) -> None:
    page = _page(client, "/streams")
    for shown in ("Trips", "Assistant", "50,000", "222", "1,350,000", "distance_km", "latency_ms"):
        assert shown in page


def test_the_list_describes_every_device_fact(client: Client) -> None:
    assert tuple(DEVICE_FACTS) == device_facts.COLUMNS
    page = _page(client, "/streams")
    for name in device_facts.COLUMNS:
        assert name in page


def test_a_stream_shows_every_column_and_why_event_time_cannot_be_read(client: Client) -> None:
    page = _page(client, "/streams/trips")
    for name in ("region", "country", "activity", "direction", "privacy_time_unit", "day_of_week"):
        assert name in page
    assert "Cannot be read" in page
    assert "A moment could single out a person;" in page
    assert "mostly 0.3 to 60 km" in page
    assert "30 days" in page


def test_a_stream_says_what_may_be_empty(client: Client) -> None:
    assert "may be empty" in _page(client, "/streams/assistant")
    assert "may be empty" not in _page(client, "/streams/trips")


def test_regions_come_in_pages_most_populous_first(client: Client) -> None:
    first = _page(client, "/streams/trips/domains/region")
    assert ">Shanghai<" in first
    assert "1–50 of 50000" in first.replace(",", "")
    second = _page(client, "/streams/trips/domains/region?page=2")
    assert ">Shanghai<" not in second
    last = _page(client, "/streams/trips/domains/region?page=99999")
    assert ">Emirgazi<" in last


def test_a_search_shows_place_country_population_and_position(client: Client) -> None:
    page = _page(client, "/streams/trips/domains/region?q=zurich")
    for shown in ("Zürich", "Switzerland", "415,367", "47.37° N, 8.55° E", "2657896"):
        assert shown in page


def test_the_spelling_that_matched_is_shown(client: Client) -> None:
    assert "also München" in _page(client, "/streams/trips/domains/region?q=münchen")


def test_htmx_gets_only_the_list_and_caches_tell_the_two_apart(client: Client) -> None:
    address = "/streams/trips/domains/region?q=zurich"
    part = client.get(address, headers={"HX-Request": "true"})
    assert "Zürich" in part.content.decode()
    assert "<html" not in part.content.decode()
    assert 'hx-swap-oob="innerHTML">' in part.content.decode()
    assert "HX-Request" in part["Vary"]
    assert "<html" in _page(client, address)
    restored = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert "<html" in _page(client, address, **restored)


@pytest.mark.parametrize(
    ("column", "text", "hint"),
    [
        ("region", "xyzzyq", "most populous places of the world"),
        ("country", "atlantis", "two-letter code"),
        ("hour_of_day", "noon", "beginning of a value"),
    ],
)
def test_an_empty_search_says_what_to_do(client: Client, column: str, text: str, hint: str) -> None:
    page = _page(client, f"/streams/trips/domains/{column}?q={text}")
    assert f"No {column} matches «{text}»" in page
    assert hint in page
    assert "Show all" in page


def test_what_people_type_is_shown_as_text_only(client: Client) -> None:
    page = _page(client, "/streams/trips/domains/region?q=<script>alert(1)</script>xyzzy")
    assert "<script>alert" not in page


@pytest.mark.parametrize("text", ["%22", "*", "%00", "a%00b", "🙂", "x" * 5_000, "%ff"])
def test_any_search_answers(client: Client, text: str) -> None:
    assert client.get(f"/streams/trips/domains/region?q={text}").status_code == 200


def test_small_domains_are_plain_lists_with_meanings(client: Client) -> None:
    page = _page(client, "/streams/trips/domains/day_of_week")
    assert "Monday" in page
    assert "Sunday" in page
    assert 'name="q"' not in page[page.index("<main") :]
    assert "motorcycling" in _page(client, "/streams/trips/domains/activity")


@pytest.mark.parametrize(
    "address",
    [
        "/streams/nothing",
        "/streams/nothing/domains/region",
        "/streams/trips/domains/nothing",
        "/streams/trips/domains/distance_km",
        "/streams/Trips",
    ],
)
def test_unknown_addresses_are_not_found(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("address", ["/streams", "/streams/trips", "/streams/trips/domains/region"])
@pytest.mark.django_db
def test_guests_are_asked_to_sign_in(address: str) -> None:
    response = Client().get(address)
    assert response.status_code == 302
    assert response["Location"].startswith("/login")


def test_it_only_reads(client: Client) -> None:
    assert client.post("/streams").status_code == 405
    assert client.post("/streams/trips/domains/region").status_code == 405
