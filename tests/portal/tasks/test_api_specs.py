"""What the editor shows beside a spec, through the API: the same numbers, and nothing stored."""

import json

import pytest
from django.test import Client

from portal.tasks.models import Task
from portal.tasks.starting_points import starting_point
from tests.portal.tasks.conftest import spec_text

PANELS = ("forecast", "preview", "cost")


@pytest.fixture
def post(signed_in, streams, ada):
    client = signed_in(who=ada)

    def send(what, body, content_type="application/yaml"):
        return client.post(f"/api/v1/specs/{what}", body, content_type=content_type)

    return send


def test_a_forecast_is_exact(post):
    found = post("forecast", spec_text(epsilon=1, clip=20)).json()
    assert found["cells"] == 9
    [of_all] = found["slices"]
    [noise] = of_all["metrics"]
    assert noise["metric"] == "n"
    assert 55 < noise["half_width"] < 65  # 20 × ln 20
    assert noise["smallest"] > noise["mean"]


def test_a_preview_has_invented_phones_within_their_bound(post):
    found = post("preview", spec_text()).json()
    assert found["keys"] == ["activity"]
    assert len(found["devices"]) == 3
    assert all(0 <= device["used"] <= 1 for device in found["devices"])
    assert found["result"]["columns"] == ["activity", "n"]
    assert found["crowd"] == 200


def test_a_cost_is_by_week_and_stream(post):
    found = post("cost", spec_text(unit="day", epsilon="0.5")).json()
    assert (found["epsilon"], found["unit"], found["fits"]) == ("0.5", "day", True)
    assert [week["wanted"] for week in found["weeks"]] == ["3.5"] * 4
    assert not post("cost", spec_text(unit="day", epsilon="0.58")).json()["fits"]


@pytest.mark.parametrize("panel", PANELS)
def test_a_document_comes_as_it_is_or_wrapped(post, panel):
    wrapped = json.dumps({"spec": spec_text()})
    plain, other = post(panel, spec_text()), post(panel, wrapped, "application/json")
    assert plain.status_code == other.status_code == 200
    assert plain.json() == other.json()


@pytest.mark.parametrize("body", ["", "name: a", b"\xff\xfe", "[", spec_text(epsilon=99)])
@pytest.mark.parametrize("panel", PANELS)
def test_a_refused_spec_has_none(post, panel, body):
    answer = post(panel, body)
    assert answer.status_code == 400
    assert "specs/compile" in answer.json()["error"]["hint"]


def test_templates_can_be_listed_and_made_into_tasks(post, signed_in, ada):
    listed = signed_in(who=ada).get("/api/v1/specs/templates").json()
    assert [point["slug"] for point in listed][:2] == ["weekly-trips", "country-modal-split"]
    assert post("compile", listed[0]["text"]).json()["accepted"]
    assert not Task.objects.exists()


def test_queries_are_laid_out_nested_and_taken_apart(post):
    laid = post("format", json.dumps({"sql": "select 1 -- one"}), "application/json").json()["sql"]
    assert laid.splitlines()[0].startswith("SELECT")
    assert "-- one" in laid
    spec = starting_point("assistant-ratings").spec
    two = {"client_sql": spec.client_sql, "server_sql": spec.server_sql}
    one = post("statements", json.dumps(two), "application/json").json()
    assert "FROM (" in one["sql"]
    again = post("statements", json.dumps(one), "application/json").json()
    assert set(again) == {"client_sql", "server_sql"}


@pytest.mark.parametrize("what", [*PANELS, "format", "statements"])
def test_they_are_for_people_who_work_with_tasks(what, signed_in, streams):
    body = json.dumps({"spec": spec_text(), "sql": "SELECT 1"})
    address = f"/api/v1/specs/{what}"
    consumer = signed_in("consumer").post(address, body, content_type="application/json")
    assert consumer.status_code == 403
    assert Client().post(address, body, content_type="application/json").status_code in (401, 403)
