"""True sums are those of the very events that phones record."""

from collections import defaultdict

import numpy as np
import pytest

from aggregation.errors import Problem
from aggregation.ondevice.events import StreamLoader
from aggregation.protocol.windows import Unit, Window
from devices_sim.fleet import ground_truth
from devices_sim.fleet.ground_truth import true_sums
from tests.devices_sim.fleet.small_world import WEEK, real_catalog, world

PHONES = 700


def small():
    return world("demo", phones=PHONES, consents={"trips": 0.8, "assistant": 0.5})


def recorded(stream, window, keys, metrics, phones):
    """What phones that agree would sum up: devices, events and metrics, by keys."""
    made, declared = small(), real_catalog().stream(stream)
    loader = StreamLoader(declared, [*keys, *metrics])
    columns = list(loader.table.columns)
    found = defaultdict(lambda: np.zeros(2 + len(metrics)))
    start, end = window.start.timestamp(), window.end.timestamp()
    for phone in phones:
        if stream not in made.consents(phone):
            continue
        seen = set()
        for row in loader.rows(made.events(phone, stream, start, end), window):
            value = dict(zip(columns, row, strict=True))
            key = tuple(value[name] for name in keys)
            found[key] += [key not in seen, 1, *(value[name] or 0 for name in metrics)]
            seen.add(key)
    return found


@pytest.mark.parametrize(
    ("stream", "keys", "window"),
    [
        ("trips", ("region", "activity", "direction"), WEEK),
        ("trips", ("country", "activity", "hour_of_day"), WEEK),
        ("trips", ("activity", "day_of_week"), Window.parse("2026-11-10", Unit.DAY)),
        ("trips", ("direction",), Window.parse("2026-11-10T17", Unit.HOUR)),
        ("assistant", ("feature", "outcome"), WEEK),
        ("assistant", ("hour_of_day", "day_of_week"), WEEK),
    ],
)
def test_they_are_what_phones_record(stream, keys, window):
    metrics = {"trips": ("distance_km", "duration_min"), "assistant": ("rating", "latency_ms")}
    some = np.arange(PHONES) % 3 > 0
    wanted = recorded(stream, window, keys, metrics[stream], np.nonzero(some)[0].tolist())
    sums = true_sums(small(), stream, window, keys=keys, phones=some)
    columns = [sums.devices, sums.events, *sums.totals.values()]
    assert list(sums.totals) == list(metrics[stream])
    assert len(sums) == len(wanted) > 0
    for row, key in enumerate(zip(*sums.keys.values(), strict=True)):
        assert [column[row] for column in columns] == pytest.approx(wanted[key].tolist())


def test_all_phones_are_those_and_the_others():
    some = np.arange(PHONES) % 3 > 0
    parts = [true_sums(small(), "trips", WEEK, phones=which) for which in (some, ~some)]
    whole = true_sums(small(), "trips", WEEK)
    assert whole.events.sum() == sum(part.events.sum() for part in parts)


def test_it_makes_no_difference_how_many_rows_are_summed_at_a_time(monkeypatch):
    at_once = true_sums(small(), "trips", WEEK)
    monkeypatch.setattr(ground_truth, "_ROWS_AT_ONCE", 1)
    by_block = true_sums(small(), "trips", WEEK)
    assert by_block.keys == at_once.keys
    assert by_block.devices.tolist() == at_once.devices.tolist()
    assert by_block.totals["distance_km"].tolist() == at_once.totals["distance_km"].tolist()


def test_no_phones_have_no_sums():
    nobody = np.zeros(PHONES, dtype=bool)
    assert len(true_sums(small(), "trips", WEEK, phones=nobody)) == 0


def test_what_it_does_not_know_gets_a_sentence():
    with pytest.raises(Problem, match="know no key 'weather', but region"):
        true_sums(small(), "trips", WEEK, keys=("weather",))
    with pytest.raises(Problem, match="stream 'steps'"):
        true_sums(small(), "steps", WEEK)
