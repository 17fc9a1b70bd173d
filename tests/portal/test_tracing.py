"""Ids of requests and jobs: accepted, made, answered, and in the line that is looked for."""

import json
import logging
import re

import pytest
from django.test import Client, RequestFactory

from portal import measuring, observing, tracing
from portal.logs import JsonFormatter, LineFormatter
from portal.pages import errors

ID = "a-caller_s-own-id-7"


def line(record: logging.LogRecord) -> dict:
    written = JsonFormatter().format(record)
    assert "\n" not in written
    return json.loads(written)


def record(message: str = "Said", **extra: object) -> logging.LogRecord:
    return logging.makeLogRecord({"name": "portal.x", "levelname": "INFO", "msg": message, **extra})


def test_an_answer_has_the_id_that_its_caller_sent(db, client):
    assert client.get("/docs", headers={"X-Request-ID": ID})["X-Request-ID"] == ID


@pytest.mark.parametrize(
    "sent",
    ["", "short", "x" * 65, "with spaces in it", "-begins-badly", "a\tb345678", "a{}[]\"'1234567"],
)
def test_what_is_not_well_formed_is_replaced(db, client, sent):
    answered = client.get("/docs", headers={"X-Request-ID": sent})["X-Request-ID"]
    assert re.fullmatch("[0-9a-f]{16}", answered)


def test_an_error_of_the_api_says_the_id(db, client):
    answer = client.get("/api/v1/no-such-thing", headers={"X-Request-ID": ID})
    assert answer.json()["error"]["request_id"] == ID
    unknown = client.get("/api/v1/me", headers={"X-Request-ID": ID})
    assert (unknown.status_code, unknown.json()["error"]["request_id"]) == (401, ID)


def test_a_mistake_of_ours_shows_the_id_that_its_line_in_the_log_has(db, caplog, monkeypatch):
    """A page that fails: the id on the page, in the header, and in the line with the traceback."""
    monkeypatch.setattr("portal.pages.views.health_check.parts", lambda: 1 / 0)
    answer = Client(raise_request_exception=False).get("/health", headers={"X-Request-ID": ID})
    assert (answer.status_code, answer["X-Request-ID"]) == (500, ID)
    assert f"<code>{ID}</code>" in answer.content.decode()
    said = [line(one) for one in caplog.records if one.name == "django.request"]
    assert [one["request"] for one in said] == [ID]
    assert "ZeroDivisionError" in said[0]["error"]


def test_the_page_of_an_error_without_an_id_shows_none():
    page = errors.server_error(RequestFactory().get("/")).content.decode()
    assert "this id" not in page


def test_lines_have_the_ids_of_what_they_are_about():
    with tracing.tracing(tracing.Trace(request="r-1", job="j-1", job_name="a.job")):
        assert LineFormatter("%(message)s").format(record()) == (
            "Said [request r-1 job j-1 job_name a.job]"
        )
        told = line(record())
    assert (told["request"], told["job"], told["job_name"]) == ("r-1", "j-1", "a.job")
    assert LineFormatter("%(message)s").format(record()) == "Said"


def test_json_is_one_line_whatever_is_said():
    assert line(record("Two\nlines, and “words”"))["message"] == "Two\nlines, and “words”"


def test_a_request_that_changes_something_has_a_line_without_what_was_sent(db, caplog, client):
    caplog.set_level(logging.INFO, logger=observing.__name__)
    client.post("/theme?secret=canary-1", {"theme": "dark", "next": "/?canary-2"})
    (said,) = [one for one in caplog.records if one.name == observing.__name__]
    told = line(said)
    assert (told["method"], told["route"], told["status"]) == ("POST", "/theme", 302)
    assert "canary" not in json.dumps(told)


def test_reading_has_no_line_of_its_own(db, caplog, client):
    caplog.set_level(logging.INFO, logger=observing.__name__)
    client.get("/docs")
    assert not [one for one in caplog.records if one.name == observing.__name__]


def test_durations_are_counted_by_pattern_and_never_by_address(db, valkey, client):
    measuring.write()
    before = _requests("/docs/<slug:slug>")
    client.get("/docs/flow?canary-3")
    client.get("/docs/metrics")
    client.get("/no-such-canary-4")
    measuring.write()
    assert _requests("/docs/<slug:slug>") == before + 2
    assert b"canary" not in b"".join(measuring.queue_client().hkeys(measuring.HASH))


def _requests(route: str) -> int:
    found = measuring.measured().get("request", {})
    return sum(one.count for labels, one in found.items() if ("route", route) in labels)


def test_durations_add_up_from_class_to_class(valkey):
    for seconds in (0.05, 0.2, 0.2, 100.0):
        measuring.took("a test", seconds, of="classes")
    measuring.write()
    found = measuring.measured()["a test"][(("of", "classes"),)]
    assert (found.count, round(found.seconds, 2)) == (4, 100.45)
    assert list(found.within.values()) == [1, 3, 3, 3, 3, 3]


def test_counts_wait_for_a_valkey_that_is_away(monkeypatch, valkey):
    import redis

    away = redis.Redis(unix_socket_path="/nowhere/valkey.sock")
    here = measuring._Counting()
    here._writer = object()  # nobody writes but this test
    here.add({'["a wait",[],"count"]': 2})
    with monkeypatch.context() as patched:
        patched.setattr(measuring, "queue_client", lambda: away)
        here.write()
    assert "a wait" not in measuring.measured()
    here.write()
    here.write()
    assert measuring.measured()["a wait"][()].count == 2


def test_a_writer_that_is_ended_writes_the_last_counts_and_is_gone(valkey):
    here = measuring._Counting()
    here.add({'["an end",[],"count"]': 3})
    assert here._writer.is_alive()
    here.end()
    assert not here._writer.is_alive()
    assert measuring.measured()["an end"][()].count == 3


def test_the_supervisor_adds_the_process_and_keeps_one_object_a_line():
    from portal.supervisor.log import as_json

    assert json.loads(as_json("jobs", '{"message": "Said", "job": "j-1"}')) == {
        "message": "Said",
        "job": "j-1",
        "process": "jobs",
    }
    for said in ("Plain words", "[1, 2]", "7"):
        told = json.loads(as_json("valkey", said))
        assert (told["message"], told["process"]) == (said, "valkey")
