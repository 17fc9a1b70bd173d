"""Releases for programs: rows in pages, series, exports, card and dictionary, for who may see."""

import json

import pytest
from django.test import Client

from portal.accounts.tokens import create_token
from portal.openapi import document
from portal.releases import running
from portal.releases.rendering import folder_of
from tests.portal.collection import collecting as module
from tests.portal.collection.collecting import someone
from tests.portal.releases.browsing.conftest import (
    AFTER,
    BERLIN,
    FIRST,
    MARSEILLE,
    PARIS,
    SECOND,
    SPEC,
)
from tests.portal.releases.data.conftest import AT

API = f"/api/v1{AT}"
TASK = "/api/v1/releases/trips-by-region"
CALLS = [
    f"{API}/cells",
    f"{API}/card",
    f"{API}/dictionary",
    f"{API}/files/cells.csv",
    f"{TASK}/series?table=total",
]


@pytest.fixture
def get(client, released):
    def read(path: str, status: int = 200) -> dict:
        answer = client.get(path)
        assert answer.status_code == status, answer.content
        return json.loads(answer.content)

    return read


def test_it_works(get):
    found = get(f"{API}/cells?table=cells&activity=cycling&sort=-distance_km&page_size=2")
    assert found["count"] == 5
    assert [row["region_name"] for row in found["results"]] == ["Lyon", "Munich"]
    row = found["results"][0]
    assert row["country"] == "FR"
    assert row["population"] > 400_000
    assert row["distance_km"] > 10 * row["distance_km_half_width"] > 0
    assert found["previous"] is None
    following = get(found["next"].split("testserver")[1])
    assert [row["region_name"] for row in following["results"]] == ["Paris", "Berlin"]
    hidden = get(f"{API}/cells?region={MARSEILLE}&page_size=1")["results"][0]
    assert hidden["suppressed"].startswith("The noise is more than")
    assert hidden["distance_km"] is None


def test_pages_by_the_names_of_places(get, monkeypatch):
    for deep in (5000, 0):
        monkeypatch.setattr("portal.releases.querying._DEEP", deep)
        rows = get(f"{API}/cells?table=by-region&sort=-region&page_size=2&page=2")["results"]
        assert [row["region_name"] for row in rows] == ["Marseille", "Lyon"]


def test_rows_are_those_of_the_export(get, client, body):
    for query in ("", "country=DE", "shown=1&sort=-num_trips", "activity=bus&activity=train"):
        rows = get(f"{API}/cells?{query}&page_size=500")["results"]
        assert rows == json.loads(body(client.get(f"{API}/files/cells.json?{query}"))), query
        assert rows


def test_one_row_over_windows(get):
    found = get(f"{TASK}/series?region={PARIS}&activity=cycling")
    assert (found["task"], found["table"]) == ("trips-by-region", "cells")
    rows = found["results"]
    assert [row["window"] for row in rows] == [FIRST, SECOND]
    assert rows[1]["num_trips"] == pytest.approx(2 * rows[0]["num_trips"], rel=0.05)
    assert len(get(f"{TASK}/series?table=by-country&country=FR&windows=1")["results"]) == 1
    assert len(get(f"{TASK}/series?table=total")["results"]) == 2


def test_the_newest_window_has_a_name_of_its_own(get):
    assert get(f"{TASK}/latest") == get(API)
    assert get(f"{TASK}/latest/cells") | {"next": ""} == get(f"{API}/cells") | {"next": ""}


def test_card_and_dictionary(get, released, client):
    assert get(f"{API}/card") == json.loads(released[1].card)
    assert get(f"{API}/dictionary") == json.loads(client.get(f"{AT}/files/dictionary.json").content)


def test_wrong_questions_are_answered_in_the_shape_of_errors(get):
    for path, status, sentence in (
        (f"{API}/cells?table=by-regoin", 404, ""),
        (f"{API}/cells?activity=cyclng", 400, "No row of cells has the activity 'cyclng'."),
        (f"{API}/cells?sort=speed", 400, "The rows of cells cannot be sorted by 'speed'."),
        (f"{API}/cells?page=x", 400, "page is a whole number"),
        (f"{API}/cells?page=99", 404, "The list has no page 99."),
        (f"{API}/cells?colour=red", 400, "takes no parameter 'colour'"),
        (f"{API}/files/cells.csv?activity=x", 400, "No row of cells has the activity 'x'."),
        (f"{API}/files/cells.xlsx", 404, ""),
        (f"{API}/files/total.geojson", 404, ""),
        (f"{TASK}/series", 400, "A series is of one row, so it takes one value of region."),
        (f"{TASK}/series?region={PARIS}&region={BERLIN}", 400, "one value of region"),
        (f"{TASK}/series?table=total&windows=0", 400, "windows is a whole number from 1"),
        (f"{TASK}/series?table=nothing", 404, ""),
        ("/api/v1/releases/nothing/latest", 404, ""),
        ("/api/v1/releases/nothing/series", 404, ""),
    ):
        error = get(path, status)["error"]
        assert sentence in error["message"], path
        assert error["hint"] or status == 404, path


def test_who_may_see_what(released, client, settings, collecting):
    guest, nobody = Client(), Client()
    nobody.force_login(someone("nobody"))
    for path in CALLS:
        assert guest.get(path).status_code == nobody.get(path).status_code == 200, path
    settings.PUBLIC_RELEASES = False
    for path in CALLS:
        assert guest.get(path).status_code in (401, 403), path
        assert nobody.get(path).status_code == 404, path
        assert client.get(path).status_code == 200, path


def test_guests_do_not_find_what_is_internal(collecting, client, monkeypatch):
    text = SPEC.replace("publish: {{audience: public}}\n", "").replace("n: 0.5", "n: 0.05")
    monkeypatch.setattr(module, "SPEC", text)
    collecting.clock.set(collecting.revision.approved_at)
    collecting.activate("for-us")
    collecting.go_to(AFTER)
    running.release_due_windows(clock=collecting.clock)
    running.render_releases()
    for path in (call.replace("trips-by-region", "for-us") for call in CALLS):
        assert Client().get(path).status_code == 404, path
        assert client.get(path).status_code == 200, path


def test_a_token_needs_the_scope(released, collecting):
    owner = someone("tom", "consumer")
    for scope, status in (("read", 200), ("author", 403)):
        made = create_token(
            owner=owner, name=scope, scopes=[scope], lifetime_days=30, clock=collecting.clock
        )
        headers = {"Authorization": f"Bearer {made.secret}"}
        for path in CALLS:
            assert Client().get(path, headers=headers).status_code == status, path


def test_a_damaged_file_is_told_of(get, released):
    (folder_of(released[1]) / "cells.parquet").write_bytes(b"!")
    error = get(f"{API}/cells", 409)["error"]
    assert error["message"].startswith("cells.parquet differs from what was signed")
    assert get(f"{API}/files/cells.csv", 409)["error"]["code"] == "conflict"


def test_calls_are_described_with_examples():
    paths = document()["paths"]
    one = "/api/v1/releases/{task}/{window}"
    for path in (f"{one}/cells", f"{one}/card", "/api/v1/releases/{task}/series"):
        content = paths[path]["get"]["responses"]["200"]["content"]["application/json"]
        assert content["examples"], path
    names = {parameter["name"] for parameter in paths[f"{one}/cells"]["get"]["parameters"]}
    assert {"task", "window", "table", "region", "shown", "sort", "page", "page_size"} <= names
