"""Rates that fade: of what a session takes, and of what arrives for a revision."""

import pytest

from portal.collection import arrivals
from portal.collection.metering import FADES_SECONDS, Fading, Meters


def test_a_steady_rate_is_found():
    rate = Fading()
    for tick in range(600):
        rate.note(50, now=tick / 10)
    assert rate.per_second(60) == pytest.approx(500, rel=0.05)


def test_it_fades():
    rate = Fading()
    rate.note(1000, now=10)
    assert rate.per_second(10) == 1000 / FADES_SECONDS
    assert rate.per_second(10 + 10 * FADES_SECONDS) < 0.01
    rate.note(1000, now=20)
    # A clock that went back changes nothing.
    assert rate.per_second(10) == rate.per_second(20)


def test_what_arrives_is_what_was_taken_and_what_waits():
    meters = Meters()
    meters.found_queued(30, now=0)
    meters.took(30, accepted=20, seconds=9, now=0)
    meters.found_queued(5, now=0)
    said = meters.said(0)
    assert said == {"arriving": 35 / FADES_SECONDS, "accepting": 20 / FADES_SECONDS, "busy": 1.0}
    # A queue that was emptied by a restart has not sent anything back.
    meters.found_queued(0, now=0)
    meters.found_queued(4, now=0)
    assert meters.said(0)["arriving"] == 39 / FADES_SECONDS


def test_arrivals_are_remembered_for_a_while(valkey):
    arrivals.queue_client().delete("mayfly:revision:77:arriving")
    assert arrivals.remembered(77, 0, now=1000) == 0
    assert arrivals.remembered(77, 500, now=1001) == 500
    left = arrivals.remembered(77, 0, now=1001 + arrivals.FADES_SECONDS)
    assert left == pytest.approx(500 / 2.718, rel=0.01)
    assert arrivals.remembered(77, 900, now=1030) == 900


def test_calm_is_counted_from_its_beginning(valkey):
    assert arrivals.calm_seconds(78, "a", now=100) == 0
    assert arrivals.calm_seconds(78, "a", now=130) == 30
    assert arrivals.calm_seconds(78, "b", now=130) == 0
