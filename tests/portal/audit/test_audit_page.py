"""The audit page, its filters and its export."""

import csv
import io
import json
from datetime import UTC, datetime

import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from aggregation.clock import ManualClock
from portal.audit import exports
from portal.audit.models import Entry
from portal.audit.services import Change, record


@pytest.fixture
def log(person, clock):
    ada = person("analyst", username="ada")
    changes = [Change("role", None, "analyst")]
    record(action="role.granted", subject=ada, actor=ada, clock=clock, changes=changes)
    record(action="person.added", subject=person(username="=1+1"), clock=clock)


@async_to_sync
async def text_of(answer) -> str:
    return b"".join([part async for part in answer.streaming_content]).decode()


def test_it_works(signed_in, log):
    answer = signed_in("reviewer").get("/audit")
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "role.granted" in page
    assert "nothing" in page
    assert "<ins>analyst</ins>" in page


def test_the_filters_narrow_and_are_kept_in_the_address(signed_in, log):
    client = signed_in("operator")
    page = client.get("/audit?person=ada").content.decode()
    assert "role.granted" in page
    assert 'class="mono" href="?person=ada&amp;action=person.added"' not in page
    assert "Nothing matches" in client.get("/audit?first_day=2099-01-01").content.decode()
    assert "role.granted" in client.get("/audit?last_day=2099-01-01&page=1").content.decode()


@pytest.mark.parametrize(
    "query",
    ["person=nobody", "first_day=yesterday", "page=x", "page=-1", "last_day=9999-12-31"],
)
def test_a_filter_that_makes_no_sense_is_no_error(signed_in, log, query):
    assert signed_in("operator").get(f"/audit?{query}").status_code == 200


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("person=nobody", "The log has no “nobody”. Choose one from the list."),
        ("action=role.lost", "The log has no “role.lost”. Choose one from the list."),
        ("first_day=yesterday", "This is no date. Write it as 2026-12-31."),
    ],
)
def test_a_filter_that_cannot_be_used_says_why_and_shows_nothing(signed_in, log, query, sentence):
    page = signed_in("operator").get(f"/audit?{query}").content.decode()
    assert sentence in page
    assert "This filter cannot be used" in page
    assert "<table" not in page


@pytest.mark.databases
def test_an_object_is_found_by_what_the_table_shows(signed_in, log):
    client = signed_in("operator")
    shown = client.get("/audit?object_label=Ada").content.decode()
    assert "role.granted" in shown.split("<table")[1]
    assert "person.added" not in shown.split("<table")[1]
    assert "Nothing matches" in client.get("/audit?object_label=grace").content.decode()


def test_an_object_id_is_asked_for_by_links_alone(signed_in, log):
    client, ada = signed_in("operator"), Entry.objects.get(seq=1)
    assert 'name="object_id"' not in client.get("/audit").content.decode()
    linked = client.get(f"/audit?object_type=person&object_id={ada.object_id}").content.decode()
    assert f'name="object_id" value="{ada.object_id}"' in linked
    assert "person.added" not in linked.split("<table")[1]


def test_days_are_those_that_are_shown(signed_in, person):
    then = ManualClock(datetime(2031, 5, 6, tzinfo=UTC))
    record(action="person.added", subject=person(), clock=then)
    client = signed_in("operator")
    assert "2031-05-06 00:00" in client.get("/audit?first_day=2031-05-06").content.decode()
    assert client.get("/api/v1/audit?first_day=2031-05-07").json()["count"] == 0


@pytest.mark.parametrize("path", ["/audit", "/audit/export.csv", "/audit/export.jsonl"])
def test_it_is_for_reviewers_and_operators(signed_in, db, path):
    assert signed_in("analyst", "consumer").get(path).status_code == 403
    assert Client().get(path).status_code == 302


def test_the_export_holds_what_the_hashes_cover(signed_in, log):
    answer = signed_in("operator").get("/audit/export.jsonl")
    entries = [json.loads(line) for line in text_of(answer).splitlines()]
    assert [e["hash"] for e in entries] == list(
        Entry.objects.order_by("seq").values_list("hash", flat=True)
    )
    assert entries[1]["previous"] == entries[0]["hash"]


def test_an_export_is_read_and_sent_a_batch_at_a_time(signed_in, log, monkeypatch):
    monkeypatch.setattr(exports, "BATCH", 1)
    answer = signed_in("operator").get("/audit/export.jsonl")
    assert [json.loads(line)["seq"] for line in text_of(answer).splitlines()] == [1, 2]


@pytest.mark.parametrize("query", ["person=nobody", "first_day=yesterday", "object_id=%00"])
def test_an_export_never_holds_more_than_was_asked_for(signed_in, log, query):
    answer = signed_in("operator").get(f"/audit/export.csv?{query}")
    assert answer.status_code == 400
    assert 'class="error"' in answer.content.decode()


@pytest.mark.databases
def test_the_last_day_is_included(signed_in, log):
    day = Entry.objects.get(seq=1).civil_at.date()
    client = signed_in("operator")
    assert client.get(f"/api/v1/audit?first_day={day}&last_day={day}").json()["count"] == 2
    assert client.get("/api/v1/audit?first_day=0001-01-01&last_day=9999-12-31").status_code == 200


def test_the_csv_runs_nothing_in_a_spreadsheet(signed_in, log):
    answer = signed_in("operator").get("/audit/export.csv?action=person.added")
    rows = list(csv.DictReader(io.StringIO(text_of(answer))))
    assert [row["object_label"] for row in rows] == ["'=1+1"]


def test_the_api_pages_and_filters(signed_in, log):
    client = signed_in("operator")
    found = client.get("/api/v1/audit?action=role.granted").json()
    assert found["count"] == 1
    assert found["results"][0]["changes"] == [{"field": "role", "from": None, "to": "analyst"}]
    refused = client.get("/api/v1/audit?first_day=yesterday")
    assert refused.status_code == 400
    assert refused.json()["error"]["fields"][0]["field"] == "first_day"
    assert signed_in("analyst").get("/api/v1/audit").status_code == 403


def test_a_page_of_the_log_takes_few_queries(signed_in, log, django_assert_max_num_queries):
    client = signed_in("operator")
    with django_assert_max_num_queries(12):
        client.get("/audit")
