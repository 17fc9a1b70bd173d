"""The forecast's numbers, worked by hand."""

from decimal import Decimal
from math import log

import pytest

from aggregation.compiler import compile_spec
from aggregation.protocol.spec_reading import read_spec
from aggregation.protocol.windows import Unit
from portal.tasks.editor_document import Edit, with_edits
from portal.tasks.forecast import forecast, largest_epsilon, weekly_cost
from portal.tasks.starting_points import starting_point


def of(slug, catalog, *edits):
    text = with_edits(starting_point(slug).text, [Edit(path, value) for path, value in edits])
    return forecast(compile_spec(read_spec(text), catalog), catalog)


def test_joint_clipping_by_hand(catalog):
    # clip 60, ε 0.5: Laplace noise of scale b = 60 / 0.5 = 120, so its mean size is 120, and it
    # stays within b · ln 20 = 359.5 with probability 95 %. At most 5 % noise: from 120 / 0.05 on.
    [everything] = of("trip-lengths", catalog).slices
    [trips] = everything.metrics
    assert (everything.name, trips.metric) == ("all", "trips")
    assert trips.mean == pytest.approx(120)
    assert trips.half_width == pytest.approx(120 * log(20), rel=1e-5)
    assert trips.smallest == pytest.approx(2400)


def test_group_scaling_by_hand(catalog):
    # Driving has the scale 410 km, clip 5.3, ε 2: b = 410 · 5.3 / 2 = 1086.5 km.
    found = {s.name: {m.metric: m for m in s.metrics} for s in of("weekly-trips", catalog).slices}
    driving = found["driving"]["distance_km"]
    assert len(found) == 9
    assert driving.mean == pytest.approx(1086.5)
    assert driving.half_width == pytest.approx(1086.5 * log(20), rel=1e-5)
    assert driving.smallest == pytest.approx(1086.5 / 0.05)


def test_budget_split_by_hand(catalog):
    # Two kinds of (slice, metric) share ε: twice the noise of a bound of its own.
    mechanism = {
        "kind": "budget_split",
        "slice_by": [],
        "scales": {"all": {"rides": 14, "distance_km": 70}},
    }
    path = ("anonymization", "mechanism")
    [everything] = of("cycling-by-hour", catalog, (path, mechanism)).slices
    assert [m.mean for m in everything.metrics] == pytest.approx([2 * 14 / 0.5, 2 * 70 / 0.5])


def test_only_the_metrics_that_must_pass_have_a_smallest_value(catalog):
    [first, *_] = of("assistant-quality", catalog).slices
    assert [(m.metric, m.smallest is None, m.is_hidden) for m in first.metrics] == [
        ("uses", False, False),
        ("accepted", True, False),
        ("seconds_sum", True, True),
    ]


def test_half_the_epsilon_is_twice_the_noise(catalog):
    half = of("weekly-trips", catalog, (("anonymization", "epsilon"), 1)).slices
    for one, two in zip(of("weekly-trips", catalog).slices, half, strict=True):
        assert [2 * m.mean for m in one.metrics] == pytest.approx([m.mean for m in two.metrics])


@pytest.mark.parametrize(
    ("unit", "cost", "most"),
    [
        ("hour", "84", "0.02"),
        ("day", "3.5", "0.57"),
        ("week", "0.5", "4.00"),
        ("month", "1", "2.00"),
    ],
)
def test_a_week_is_charged_for_all_its_windows(unit, cost, most):
    assert weekly_cost(Decimal("0.5"), Unit(unit)) == Decimal(cost)
    assert largest_epsilon(Unit(unit), Decimal(4)) == Decimal(most)
    assert weekly_cost(largest_epsilon(Unit(unit), Decimal(4)), Unit(unit)) <= 4
