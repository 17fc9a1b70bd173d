"""/metrics: Prometheus' text format, for operators' tokens, as coarse as the pages."""

import re

from django.test import Client

from portal import heartbeats
from portal.accounts.models import Scope
from portal.accounts.tokens import create_token
from portal.pages.metrics import Metric, as_text, metrics
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


def test_names_are_unique_and_described(db, valkey):
    names = [metric.name for metric in metrics()]
    assert len(names) == len(set(names))
    assert all(name.startswith("mayfly_") for name in names)


def test_every_metric_is_in_the_documentation(db, valkey):
    described = dict(tables("metrics"))["What there is"]
    assert [row[0::2] for row in described] == [[m.name, m.help] for m in metrics()]
    labels = {m.name: ", ".join(m.samples[0][0]) for m in metrics() if m.samples}
    assert all(row[1] == labels[row[0]] for row in described if row[0] in labels)
