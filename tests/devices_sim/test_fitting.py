"""Fitting: a look at whole columns lets nothing pass that a look at each value would not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.ondevice.events import Event
from aggregation.protocol.shipped import shipped_catalog
from devices_sim.device.fitting import fit_of
from tests.aggregation.ondevice.examples import trip

CATALOG = shipped_catalog(regions=["1001", "1002"], countries=["DE"])
FINE = {
    "trips": trip().values,
    "assistant": ("reply", "accepted", 5, 80.0),
}


class Sly(str):
    """Equal to a word of a domain, and no plain text."""


ODD: list[Any] = [
    *(None, True, 5, 5.0, 6, -1, -1.5, 10**400, -(10**400), "reply", "1001", "DE"),
    *(float("nan"), float("inf"), -float("inf"), 1e308, -0.0, "", b"", ["x"]),
    *(Sly("1001"), Sly("reply"), Sly("DE"), "driving", "within", "accepted"),
]
odd = st.sampled_from(ODD)
times = st.sampled_from([0.0, 1e308, -1e308, float("nan"), float("inf"), -float("inf")])


@st.composite
def events_of(draw: st.DrawFn, stream: str) -> list[Event]:
    """Mostly fine ones, with a value changed, added or left out here and there."""
    found = []
    for _ in range(draw(st.integers(0, 5))):
        values: list[Any] = list(FINE[stream])
        for _ in range(draw(st.integers(0, 2))):
            values[draw(st.integers(0, len(values) - 1))] = draw(odd)
        values = values[: len(values) - draw(st.sampled_from([0, 0, 0, 0, 1]))]
        found.append(Event(draw(times), 0, tuple(values)))
    return found


@pytest.mark.parametrize("stream", FINE)
@given(data=st.data())
def test_both_looks_agree(stream: str, data: st.DataObject) -> None:
    events, fit = data.draw(events_of(stream)), fit_of(stream, CATALOG)
    assert fit.of(events) == [event for event in events if fit(event)]


@pytest.mark.parametrize("stream", FINE)
def test_both_looks_agree_on_each_odd_value(stream: str) -> None:
    fit, fine = fit_of(stream, CATALOG), FINE[stream]
    rows = [(*fine[:at], value, *fine[at + 1 :]) for at in range(len(fine)) for value in ODD]
    for row in [*rows, fine[:-1], (*fine, 1.0)]:
        for events in ([Event(0.0, 0, row)], [Event(0.0, 0, each) for each in (fine, row, fine)]):
            assert fit.of(events) == [event for event in events if fit(event)], row


def test_what_fits_passes_at_first_look() -> None:
    for stream, values in FINE.items():
        fit = fit_of(stream, CATALOG)
        assert fit._all([Event(0.0, 0, values)] * 3)
    assert fit_of("assistant", CATALOG)._all([Event(0.0, 0, ("reply", "accepted", None, 80.0))])
