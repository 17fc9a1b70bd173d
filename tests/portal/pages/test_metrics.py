"""/metrics: Prometheus' text format, for operators' tokens, as coarse as the pages."""

import re
import threading

import pytest
from django.test import Client

from aggregation.protocol.windows import Unit, Window
from portal import heartbeats, measuring
from portal.accounts.models import Scope
from portal.accounts.tokens import create_token
from portal.ledger.services import reserve
from portal.measuring import Measured
from portal.pages.metrics import metrics
from portal.pages.metrics_text import Histogram, Metric, as_text
from portal.problems import Conflict
from portal.valkey import queue_client
from tests.parts import eventually
from tests.portal.pages.reading_docs import tables

LINE = re.compile(r'[a-z_0-9]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.]+')


def asked(person, clock, *scopes, accept="text/plain"):
    made = create_token(
        owner=person, name="prometheus", scopes=scopes, lifetime_days=30, clock=clock
    )
    headers = {"Authorization": f"Bearer {made.secret}", "Accept": accept}
    return Client().get("/metrics", headers=headers)


def test_it_works(person, clock, valkey):
    heartbeats.beat("sessions@here")
    answer = asked(person("operator"), clock, Scope.OPERATE)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.content.decode().splitlines()
    assert all(line.startswith("# ") or LINE.fullmatch(line) for line in lines)
    assert "mayfly_updates_at_rest_checks_failed 0" in lines
    assert 'mayfly_sessions{state="open"} 0' in lines
    assert "mayfly_updates_queued 0" in lines
    assert 'mayfly_updates_refused{reason="duplicate"} 0' in lines


def test_a_token_needs_the_scope_and_its_owner_the_role(person, clock, valkey):
    assert asked(person("operator"), clock, Scope.READ).status_code == 403
    assert asked(person("analyst"), clock, Scope.READ).status_code == 403
    assert Client().get("/metrics").status_code == 401


def test_values_and_labels_are_written_as_prometheus_reads_them():
    found = Metric("m", "A sentence.", (({"a": 'x"y\\z\n'}, 1_200_000.0), ({}, 0.5)))
    assert as_text([found]).splitlines() == [
        "# HELP m A sentence.",
        "# TYPE m gauge",
        r'm{a="x\"y\\z\n"} 1200000',
        "m 0.5",
    ]


def test_a_histogram_is_written_as_prometheus_reads_it():
    row = Measured(count=3, seconds=2.5, within={0.1: 1, 1.0: 2})
    lines = as_text([Histogram("h", "A sentence.", (((("job", "x"),), row),))]).splitlines()
    assert lines[1:] == [
        "# TYPE h histogram",
        'h_bucket{job="x",le="0.1"} 1',
        'h_bucket{job="x",le="1"} 2',
        'h_bucket{job="x",le="+Inf"} 3',
        'h_sum{job="x"} 2.5',
        'h_count{job="x"} 3',
    ]


def test_requests_are_counted_by_pattern(person, clock, valkey):
    Client().get("/docs/flow")
    measuring.write()
    text = asked(person("operator"), clock, Scope.OPERATE).content.decode()
    counted = 'mayfly_request_duration_seconds_count{method="GET",route="/docs/<slug:slug>",'
    assert counted in text
    assert "/docs/flow" not in text


def test_what_the_ledger_refuses_is_counted(db, valkey, clock):
    before = refusals()
    week = Window.containing(clock.now(), Unit.WEEK).next()
    with pytest.raises(Conflict):
        reserve(task="dear", streams=["trips"], windows=[week], hundredths=9_900, clock=clock)
    assert refusals() == {**before, "trips": before.get("trips", 0) + 1}


def refusals():
    """By stream. What earlier tests of this process counted without a Valkey is written too."""
    measuring.write()
    (found,) = [m for m in metrics() if m.name == "mayfly_ledger_refusals_total"]
    assert found.kind == "counter"
    return {labels["stream"]: number for labels, number in found.samples}


def test_what_another_thread_is_writing_is_waited_for(valkey):
    measuring.count("slowly")
    queue_client().execute_command("CLIENT", "PAUSE", "300", "WRITE")
    other = threading.Thread(target=measuring.write)
    other.start()
    eventually(lambda: not measuring._here._fresh)
    measuring.write()
    assert measuring.measured()["slowly"][()].count == 1
    other.join()


def test_names_are_unique_and_described(db, valkey):
    names = [metric.name for metric in metrics()]
    assert len(names) == len(set(names))
    assert all(name.startswith("mayfly_") for name in names)


def test_every_metric_is_in_the_documentation(db, valkey):
    described = dict(tables("metrics"))["What there is"]
    assert [row[0::2] for row in described] == [[m.name, m.help] for m in metrics()]
    labels = {m.name: ", ".join(m.samples[0][0]) for m in metrics() if m.samples}
    assert all(row[1] == labels[row[0]] for row in described if row[0] in labels)
