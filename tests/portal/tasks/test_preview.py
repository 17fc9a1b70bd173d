"""The preview shows what the device's code and the core say, on invented events."""

from datetime import UTC, datetime

import numpy as np
import pytest

from aggregation.compiler import compile_spec
from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.core.interface import Verdict
from aggregation.mechanisms import build_for
from aggregation.ondevice.execute import execute
from aggregation.protocol.ranks import Cells
from aggregation.protocol.spec_reading import read_spec
from aggregation.protocol.windows import Window
from portal.tasks.editor_document import Edit, with_edits
from portal.tasks.editor_synthetic import Synthetic
from portal.tasks.preview import CROWD, preview
from portal.tasks.starting_points import starting_point, starting_points

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def nowhere(region):
    return None


def compiled_from(text, catalog):
    return compile_spec(read_spec(text), catalog)


def of(compiled, catalog):
    return preview(compiled, catalog, now=NOW, country_of=nowhere)


@pytest.mark.parametrize("point", starting_points(), ids=lambda point: point.slug)
def test_it_equals_execute_and_the_core(point, catalog):
    compiled = compiled_from(point.text, catalog)
    task, config = compiled.client_task, compiled.server_config
    shown = of(compiled, catalog)
    window = Window.containing(NOW, task.window_unit).previous()
    crowd = Synthetic(task, catalog, window, country_of=nowhere)
    parts = [execute(task, crowd.events(n), window, catalog) for n in range(CROWD)]
    core = GroupBySum(Params.of(config).without_threshold())
    assert {core.accumulate(part) for part in parts} == {Verdict.ACCEPTED}
    cells = Cells.of(task.keys, catalog.domain)
    decoded = build_for(task.mechanism, cells, task.metrics).decode(core.report().sums)
    assert shown.result is not None
    for row in shown.result.rows:
        keys, values = row[: len(cells.names)], row[len(cells.names) :]
        known = dict(zip(task.metrics, decoded[cells.rank(keys)], strict=True))
        for column, value in zip(shown.result.columns[len(cells.names) :], values, strict=True):
            if column in known:
                assert value == pytest.approx(known[column])
    for device in shown.devices:
        part = parts[device.number - 1]
        assert [row.units for row in device.rows] == [tuple(q) for q in part.values.tolist()]
        assert [cells.rank(row.keys) for row in device.rows] == part.ranks.tolist()


def test_every_starting_point_has_something_to_show(catalog):
    for point in starting_points():
        shown = of(compiled_from(point.text, catalog), catalog)
        assert shown.result is not None
        assert len(shown.result.rows) >= 3, point.slug
        assert all(device.rows for device in shown.devices), point.slug


def test_it_is_the_same_every_time(catalog):
    compiled = compiled_from(starting_point("weekly-trips").text, catalog)
    assert of(compiled, catalog) == of(compiled, catalog)


def test_a_derived_column_is_a_ratio_of_sums(catalog):
    shown = of(compiled_from(starting_point("country-modal-split").text, catalog), catalog)
    assert shown.result.columns[-3:] == ("num_trips", "distance_km", "km_per_trip")
    for *_, trips, km, ratio in shown.result.rows:
        assert ratio == pytest.approx(km / trips)


def test_a_contribution_beyond_the_bound_is_said_to_be_clipped(catalog):
    text = starting_point("trip-lengths").text
    assert of(compiled_from(text, catalog), catalog).clipped == 0
    path = ("anonymization", "mechanism", "clip")
    tight = of(compiled_from(with_edits(text, [Edit(path, 2)]), catalog), catalog)
    wide = of(compiled_from(text, catalog), catalog)
    for small, large in zip(tight.devices, wide.devices, strict=True):
        assert small.is_clipped == (sum(sum(row.values) for row in large.rows) > 2.01)
        assert small.used <= 1
    assert tight.clipped > CROWD / 2


def test_a_share_of_the_bound_that_is_full_is_clipped_too(catalog):
    mechanism = {
        "kind": "budget_split",
        "slice_by": [],
        "scales": {"all": {"rides": 1.5, "distance_km": 1e6}},
    }
    text = with_edits(
        starting_point("cycling-by-hour").text, [Edit(("anonymization", "mechanism"), mechanism)]
    )
    shown = of(compiled_from(text, catalog), catalog)
    assert 0 < shown.clipped < CROWD
    assert all(device.used < 0.6 for device in shown.devices)


def test_values_that_the_query_names_are_drawn(catalog):
    text = starting_point("weekly-trips").text
    sql = read_spec(text).client_sql.replace("FROM trips", "FROM trips WHERE region = '1011'")
    shown = of(compiled_from(with_edits(text, [Edit(("client_sql",), sql)]), catalog), catalog)
    assert {row[0] for row in shown.result.rows} == {"1011"}


def test_events_keep_to_the_schema(catalog):
    compiled = compiled_from(starting_point("assistant-ratings").text, catalog)
    window = Window.containing(NOW, compiled.client_task.window_unit).previous()
    crowd = Synthetic(compiled.client_task, catalog, window, country_of=nowhere)
    events = [e for n in range(50) for e in crowd.events(n)["assistant"]]
    assert all(window.start.timestamp() <= e.time < window.end.timestamp() for e in events)
    ratings = {e.values[2] for e in events}
    assert ratings == {None, 1, 2, 3, 4, 5}
    assert np.all([80 <= e.values[3] <= 2500 for e in events])


def test_a_region_has_its_own_country(catalog):
    compiled = compiled_from(starting_point("country-modal-split").text, catalog)
    window = Window.containing(NOW, compiled.client_task.window_unit).previous()
    crowd = Synthetic(compiled.client_task, catalog, window, country_of=lambda region: "FR")
    assert {e.values[1] for n in range(20) for e in crowd.events(n)["trips"]} == {"FR"}
