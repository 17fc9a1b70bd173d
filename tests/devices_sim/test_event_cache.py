"""The event cache: what fits is kept, with consent, until its time to live ends."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from aggregation.ondevice.events import Event
from aggregation.protocol.streams import Catalog
from devices_sim.device import event_cache
from devices_sim.device.event_cache import MAX_EVENTS, purge, record
from devices_sim.device.state import State, from_bytes, to_bytes
from tests.aggregation.ondevice.examples import WEEK, trip

NOW = WEEK.end.timestamp()


def agreed(*streams: str) -> State:
    return State(1, started=0.0, consents=dict.fromkeys(streams, 0.0))


def test_nothing_is_recorded_without_consent(catalog: Catalog) -> None:
    state = agreed("assistant")
    assert record(state, catalog, "trips", [trip()]) == 0
    assert state.events == {}


def test_events_outlive_a_restart_as_they_were(catalog: Catalog) -> None:
    state = agreed("trips", "assistant")
    asked = Event(NOW, -3600, ("reply", "accepted", None, 80))
    record(state, catalog, "trips", [trip()])
    record(state, catalog, "assistant", [asked])
    again = from_bytes(to_bytes(state))
    assert again is not None
    assert again.events == {"trips": [trip()], "assistant": [asked]}
    assert type(again.events["assistant"][0].values[3]) is int


@pytest.mark.parametrize(
    "event",
    [
        trip(region="9999"),
        trip(activity="teleporting"),
        trip(distance_km=-0.1),
        trip(distance_km=float("nan")),
        trip(distance_km=float("inf")),
        trip()._replace(time=float("nan")),
        trip()._replace(time=float("inf")),
        trip()._replace(values=("1001",)),
        trip()._replace(values=(*trip().values, 1)),
        trip()._replace(values=(1001, *trip().values[1:])),
        trip()._replace(values=(None, *trip().values[1:])),
        trip()._replace(values=(*trip().values[:5], True)),
        trip()._replace(values=(*trip().values[:5], "16")),
    ],
)
def test_what_is_no_event_of_the_stream_is_not_kept(catalog: Catalog, event: Event) -> None:
    state = agreed("trips")
    assert record(state, catalog, "trips", [event, trip()]) == 1
    assert state.events["trips"] == [trip()]


def test_the_minimum_itself_is_kept(catalog: Catalog) -> None:
    assert record(agreed("trips"), catalog, "trips", [trip(distance_km=0.0)]) == 1


def test_an_empty_rating_is_an_event(catalog: Catalog) -> None:
    state = agreed("assistant")
    values: list[tuple[Any, ...]] = [
        ("reply", "accepted", None, 80.0),
        ("reply", "accepted", 5, 80.0),
        ("reply", "accepted", 6, 80.0),
        # SQLite tells it from 5, which is in the domain.
        ("reply", "accepted", 5.0, 80.0),
        ("reply", None, 5, 80.0),
    ]
    assert record(state, catalog, "assistant", [Event(NOW, 0, each) for each in values]) == 2


@pytest.mark.parametrize(
    ("age", "kept"),
    [
        (timedelta(days=30), 1),
        (timedelta(days=30, seconds=1), 0),
        (timedelta(0), 1),
        (timedelta(days=-30), 1),
        (timedelta(days=-30, seconds=-1), 0),
    ],
)
def test_events_are_purged_when_their_time_ends(
    catalog: Catalog, age: timedelta, kept: int
) -> None:
    state = agreed("trips")
    record(state, catalog, "trips", [trip()._replace(time=NOW - age.total_seconds())])
    purge(state, catalog, now=NOW)
    assert len(state.events.get("trips", [])) == kept


def test_only_what_has_outlived_its_time_goes(catalog: Catalog) -> None:
    state = agreed("trips")
    ages = [timedelta(days=30), timedelta(days=31)]
    record(state, catalog, "trips", [trip()._replace(time=NOW - a.total_seconds()) for a in ages])
    purge(state, catalog, now=NOW)
    assert [event.time for event in state.events["trips"]] == [NOW - 30 * 86_400]


def test_events_of_a_stream_that_is_gone_are_purged(catalog: Catalog) -> None:
    state = agreed("trips")
    state.events["steps"] = [trip()]
    purge(state, catalog, now=NOW)
    assert state.events == {}


def test_it_does_not_grow_without_end(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_EVENTS == 20_000
    monkeypatch.setattr(event_cache, "MAX_EVENTS", 10)
    state = agreed("trips")
    times = [float(number * 7 % 25) for number in range(25)]
    record(state, catalog, "trips", [trip()._replace(time=time) for time in times])
    assert [event.time for event in state.events["trips"]] == [float(t) for t in range(15, 25)]
