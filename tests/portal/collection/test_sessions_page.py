"""/sessions and its stream: for operators, as a plain page and live."""

import asyncio
from datetime import UTC, datetime

import msgspec
import pytest
from django.test import Client

from portal import heartbeats
from portal.accounts.models import Grant
from portal.collection import placing, streaming
from portal.collection.overview import overview
from portal.collection.streaming import Middle, event, stream
from portal.valkey import queue_client

MIDDLE = Middle("collection/_overview.html", "overview", lambda: overview(now=datetime.now(UTC)))


@pytest.fixture
def operator(person):
    return person("operator")


def test_it_says_what_to_do_where_there_is_nothing(signed_in, valkey):
    page = signed_in("operator").get("/sessions").content.decode()
    assert "Updates at rest: 0" in page
    assert "None is stored." in page
    assert "None in the last 24 hours." in page
    assert page.count("&lt; 1000") >= 4


def test_an_idle_worker_is_shown(signed_in, valkey):
    heartbeats.beat("sessions@here")
    page = signed_in("operator").get("/sessions").content.decode()
    assert "sessions@here" in page
    assert "Idle. A session opens here" in page


def test_it_says_what_happens_when_a_task_finds_no_slot(signed_in, valkey):
    found = placing.Findings(slots=1, taken=1, waiting=("weekly-trips revision 1",))
    queue_client().set(placing.FINDINGS, msgspec.json.encode(found))
    page = signed_in("operator").get("/sessions").content.decode()
    assert "No slot is free for weekly-trips revision 1." in page
    assert "keep their data and are told to come back later" in page
    assert "A window whose grace ends meanwhile is released without them" in page
    assert "MAYFLY_SESSION_SLOTS" in page
    queue_client().delete(placing.FINDINGS)
    assert "No slot is free" not in signed_in("operator").get("/sessions").content.decode()


@pytest.mark.parametrize("address", ["/sessions", "/sessions/live"])
def test_it_is_for_operators(signed_in, valkey, address):
    assert Client().get(address).status_code == 302
    assert signed_in("analyst", "reviewer").get(address).status_code == 403
    assert signed_in("operator").post(address).status_code == 405


def test_an_event_holds_every_line():
    assert event("overview", "a\n\nb") == "event: overview\ndata: a\ndata: \ndata: b\n\n"


@pytest.mark.django_db(transaction=False)
def test_the_stream_tells_what_has_changed(operator, valkey, monkeypatch):
    middles = iter(["one", "one", "two", None])
    monkeypatch.setattr(streaming, "_look", lambda viewer, middle: next(middles))
    assert asyncio.run(told(operator)) == [
        "retry: 2000\n\n",
        "event: overview\ndata: one\n\n",
        ": nothing new\n\n",
        "event: overview\ndata: two\n\n",
    ]


async def told(viewer):
    return [part async for part in stream(viewer, MIDDLE, every=0)]


def test_it_looks_for_whoever_may_and_for_nobody_else(operator, valkey):
    assert "Updates at rest" in (streaming._look(operator.pk, MIDDLE) or "")
    Grant.objects.filter(person=operator).delete()
    assert streaming._look(operator.pk, MIDDLE) is None


def test_it_ends_quietly_when_it_is_cancelled(operator, monkeypatch):
    monkeypatch.setattr(streaming, "_look", lambda viewer, middle: "one")

    async def leave():
        task = asyncio.create_task(collect())
        await asyncio.sleep(0)
        while streaming._open == 0:
            await asyncio.sleep(0)
        task.cancel()
        return await task

    async def collect():
        return [part async for part in stream(operator, MIDDLE, every=60)]

    assert asyncio.run(leave())[0].startswith("retry")
    assert streaming._open == 0


def test_so_many_may_look_on_and_no_more(signed_in, valkey, monkeypatch):
    monkeypatch.setattr(streaming, "_open", streaming.MOST_STREAMS)
    answer = signed_in("operator").get("/sessions/live")
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")


def test_the_stream_is_one_of_events(signed_in, valkey):
    answer = signed_in("operator").get("/sessions/live")
    assert answer["Content-Type"] == "text/event-stream"
    assert answer["X-Accel-Buffering"] == "no"
    assert "no-store" in answer["Cache-Control"]
