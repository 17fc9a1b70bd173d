from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from aggregation.protocol.streams import Catalog
from portal.streams.geography import REGIONS_SHA256
from portal.streams.selectors import installed_catalog

pytestmark = pytest.mark.usefixtures("installed", "valkey")


@pytest.fixture
def client(signed_in: Callable[..., Client]) -> Client:
    return signed_in("analyst")


def _json(client: Client, address: str) -> Any:
    response = client.get(address)
    assert response.status_code == 200, response.content
    return response.json()


def test_it_lists_the_streams(client: Client) -> None:
    answer = _json(client, "/api/v1/streams")
    assert set(answer) == {"count", "next", "previous", "results"}
    assert [s["name"] for s in answer["results"]] == ["assistant", "trips"]


def test_a_stream_has_its_schema(client: Client) -> None:
    stream = _json(client, "/api/v1/streams/trips")
    catalog: Catalog = installed_catalog()
    installed = catalog.stream("trips")
    assert installed is not None
    assert stream["sha256"] == installed.sha256
    assert stream["ttl_days"] == 30
    columns = {c["name"]: c for c in stream["columns"]}
    assert list(columns) == [c.name for c in installed.columns]
    assert columns["region"]["domain"]["sha256"] == REGIONS_SHA256
    assert columns["region"]["domain"]["size"] == 50_000
    distance = columns["distance_km"]
    assert (distance["type"], distance["unit"], distance["minimum"]) == ("real", "km", 0)
    assert distance["typical"] == [0.3, 60]
    assert distance["domain"] is None
    assert columns["event_time"]["queryable"] is False
    assert columns["hour_of_day"]["stamped"] is True


def test_the_address_of_a_domain_leads_to_its_values(client: Client) -> None:
    stream = _json(client, "/api/v1/streams/trips")
    url = next(c["domain"]["url"] for c in stream["columns"] if c["name"] == "region")
    values = _json(client, url)
    assert values["count"] == 50_000
    assert values["results"][0] == {
        "index": 0,
        "value": "1796236",
        "name": "Shanghai",
        "place": {
            "geonameid": 1796236, "name": "Shanghai", "country": "CN", "latitude": 31.22222,
            "longitude": 121.45806, "population": 24874500, "timezone": "Asia/Shanghai",
            "admin1": "23",
        },
    }  # fmt: skip


def test_all_regions_can_be_read_page_by_page_in_their_order(client: Client) -> None:
    address, seen = "/api/v1/streams/trips/domains/region?page_size=500&q=san", []
    while address:
        answer = _json(client, address)
        seen += [value["index"] for value in answer["results"]]
        address = answer["next"]
    assert len(seen) == answer["count"] > 500
    assert seen == sorted(set(seen))


def test_values_are_searched(client: Client) -> None:
    found = _json(client, "/api/v1/streams/trips/domains/region?q=sao+paulo")["results"]
    assert found[0]["name"] == "São Paulo"
    weekdays = _json(client, "/api/v1/streams/trips/domains/day_of_week?q=mon")["results"]
    assert weekdays == [{"index": 0, "value": 0, "name": "Monday", "place": None}]
    assert _json(client, "/api/v1/streams/trips/domains/region?q=xyzzyq")["count"] == 0


@pytest.mark.parametrize(
    "address",
    [
        "/api/v1/streams/nothing",
        "/api/v1/streams/trips/domains/distance_km",
        "/api/v1/streams/trips/domains/region?page=100000",
    ],
)
def test_what_is_not_there_answers_in_the_error_shape(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 404
    assert set(response.json()["error"]) == {"code", "message", "hint", "fields", "request_id"}


@pytest.mark.django_db
def test_guests_are_turned_away() -> None:
    assert Client().get("/api/v1/streams").status_code == 401


def test_it_is_in_the_schema(client: Client) -> None:
    from drf_spectacular.generators import SchemaGenerator

    schema = SchemaGenerator().get_schema(request=None, public=True)
    for path in ("streams", "streams/{name}", "streams/{name}/domains/{column}"):
        assert f"/api/v1/{path}" in schema["paths"]
    parameters = schema["paths"]["/api/v1/streams/{name}/domains/{column}"]["get"]["parameters"]
    assert {"q", "page", "page_size"} <= {p["name"] for p in parameters}
