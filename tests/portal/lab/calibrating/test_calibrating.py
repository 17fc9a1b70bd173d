"""A calibration's numbers come with where they come from, fit their task, and load again."""

import json
from typing import Any

import msgspec
import numpy as np
import pytest

from aggregation.calibration.asking import asked
from aggregation.compiler import Compiled, compile_spec
from aggregation.errors import Problem
from aggregation.mechanisms import build
from aggregation.ondevice.bounding import bound_one
from aggregation.ondevice.execute import PreparedTask
from portal.lab.calibrating import calibrate, load_fitted, load_result, misfits
from portal.lab.calibrating.world import catalog, homes, usual_window, world_events, world_of
from portal.lab.running import Stopped
from portal.tasks.starting_points import starting_point

SMALL = {"task": "country-modal-split", "devices": 3000, "per_region": 1000}

STEP = starting_point("weekly-trips").text + (
    "step: {kind: slice_norms, by: [activity], lowest: {num_trips: 1}}\n"
)


@pytest.fixture(scope="module")
def shares() -> list[float]:
    return []


@pytest.fixture(scope="module")
def result(shares: list[float]) -> dict[str, Any]:
    return calibrate(SMALL, progress=shares.append)


def compiled(slug: str) -> Compiled:
    found = compile_spec(starting_point(slug).spec, catalog())
    assert isinstance(found, Compiled)
    return found


def test_it_works(result):
    mechanism, provenance = load_result(json.dumps(result))
    task = compiled(SMALL["task"]).client_task
    assert build(mechanism, task.keys, task.metrics, catalog().domain)
    assert provenance.kind == "simulated"
    assert provenance.seed == 1
    assert provenance.epsilon == 0.5
    assert provenance.devices == 3000
    assert set(provenance.quality.by_metric) == {"num_trips", "distance_km"}
    assert 0 < provenance.quality.mean < 0.2
    assert 0.5 < provenance.per_event["walking"]["distance_km"] < 3


def test_it_says_what_clipping_may_take(result):
    given = load_fitted(json.dumps(result)).clip_uncertainty
    assert given is not None
    assert given.count == "num_trips"
    assert set(given.metrics) == {"num_trips", "distance_km"}
    assert all(0 < terms.random < 10 for terms in given.metrics.values())
    assert isinstance(result["clip_uncertainty"]["metrics"]["num_trips"]["random"], float | int)


def test_the_same_question_has_the_same_answer(result):
    """And in as many processes as one likes."""
    again = calibrate(SMALL, processes=2)
    told = [{**each["provenance"], "date": ""} for each in (result, again)]
    assert told[0] == told[1]
    assert result["mechanism"] == again["mechanism"]


def test_it_says_how_far_it_is(result, shares):
    assert shares[0] == 0.0
    assert shares[-1] > 0.7
    assert shares == sorted(shares)


def test_it_stops_when_asked_to():
    with pytest.raises(Stopped):
        calibrate(SMALL, cancelled=lambda: True)


def test_proxy_devices_give_what_phones_would_bound():
    task = compiled("weekly-trips").client_task
    window = usual_window(task.window_unit)
    world = world_of(3, homes=homes(3, [2])[0], per_region=50)
    events = list(world_events(world, ["trips"], window, range(world.phones)))
    rows = asked(task, events, window, catalog())
    phone = PreparedTask(task, catalog())
    arithmetic = build(task.mechanism, task.keys, task.metrics, catalog().domain)
    for device, happened in enumerate(events):
        mine = slice(rows.offsets[device], rows.offsets[device + 1])
        ours = bound_one(arithmetic, rows.ranks[mine], rows.values[mine], max_rows=task.max_rows)
        theirs = phone.execute(happened, window)
        assert np.array_equal(ours.ranks, theirs.ranks)
        assert np.array_equal(ours.values, theirs.values)


def test_a_result_is_held_against_its_task(result):
    found = load_fitted(json.dumps(result))
    domain = catalog().domain
    assert list(misfits(found, compiled("country-modal-split").server_config, domain)) == []
    [keys] = misfits(found, compiled("trip-lengths").server_config, domain)
    assert "fitted for the keys country, activity" in keys
    config = msgspec.structs.replace(compiled("country-modal-split").server_config, epsilon="2")
    assert "ε = 0.5, the task has 2" in next(iter(misfits(found, config, domain)))
    config = msgspec.structs.replace(config, metrics=("num_trips",), epsilon="0.5")
    assert "metrics num_trips, distance_km, the task has num_trips" in next(
        iter(misfits(found, config, domain))
    )


def changed(result: dict[str, Any], path: str, value: object) -> str:
    document = json.loads(json.dumps(result))
    place = document
    *parents, last = path.split(".")
    for name in parents:
        place = place[name]
    place[last] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("version", 2, "no calibration's result"),
        ("mechanism", {"kind": "gaussian"}, "no calibration's result"),
        ("provenance.kind", "guessed", "no calibration's result"),
        ("provenance.data_sha256", "abc", "no SHA-256"),
        ("provenance.date", "yesterday", "'yesterday' is no date"),
        ("provenance.source", "", "does not say what"),
        ("provenance.epsilon", -1, "A number of its provenance is out of range"),
        ("provenance.quality.by_metric", {}, "for other metrics than its own"),
        ("provenance.more", 1, "no calibration's result"),
        ("provenance.fit", "magic", "There is no fit 'magic'"),
        ("provenance.window", "last week", "'last week' is no window"),
        ("provenance.source", "A survey\x00", "a character that nobody can read"),
        ("provenance.source", "s" * 301, "longer than 300"),
        ("provenance.quality.mean", -1, "A number of its provenance is out of range"),
        ("provenance.quality.mean", 1e300, "A number of its provenance is out of range"),
        ("provenance.devices", 10**30, "no calibration's result|number of its provenance"),
        ("provenance.seed", -5, "A number of its provenance is out of range"),
    ],
)
def test_what_is_malformed_is_refused(result, path, value, sentence):
    with pytest.raises(Problem, match=sentence):
        load_result(changed(result, path, value))


@pytest.mark.parametrize(
    "text", ["", "[]", "null", '{"version": 1}', "[" * 100_000, "x" * 3_000_000]
)
def test_what_is_no_result_at_all_is_refused(text):
    with pytest.raises(Problem):
        load_result(text)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "needs a task"),
        ({"task": "nothing"}, "no starting point 'nothing'"),
        ({"task": "name: x\nstreams: 3"}, "window"),
        ({"task": "weekly-trips", "devices": 5}, "devices is a whole number from 3,000"),
        ({"task": "weekly-trips", "per_region": 1}, "per_region is a whole number"),
        ({"task": "weekly-trips", "epsilon": "2"}, "ε is a number"),
        ({"task": "weekly-trips", "epsilon": 10**400}, "ε goes from 0.01 to 64"),
        ({"task": "weekly-trips", "devices": 2_000_000, "per_region": 500}, "2,000 regions"),
        ({"task": STEP}, "built-in step has nothing to calibrate"),
        ({"task": "weekly-trips", "seed": 1.5}, "A seed is a whole number"),
        ({"task": "weekly-trips", "fit": "gaussian"}, "no fit 'gaussian'"),
        ({"task": "weekly-trips", "more": 1}, "knows no 'more'"),
    ],
)
def test_bad_parameters_get_a_sentence(given, sentence):
    with pytest.raises(Problem, match=sentence):
        calibrate(given)
