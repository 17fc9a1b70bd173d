"""Devices, core and decode give what one SQL over the union of all devices gives.

For every spec of the good corpus and each mechanism: execute on every device, accumulate in the
core, decode. No noise, and bounds wide enough that clipping does not bite; what is left is the
rounding of each device's values to the grid, whose size is known.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest

from aggregation.compiler import Compiled, compile_spec
from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.core.interface import Verdict
from aggregation.mechanisms import build_for
from aggregation.ondevice.events import Event
from aggregation.ondevice.execute import PreparedTask
from aggregation.protocol.anonymization import (
    GRID,
    BudgetSplit,
    GroupScaling,
    JointClipping,
    Mechanism,
    Rotated,
)
from aggregation.protocol.part import Part
from aggregation.protocol.ranks import Cells
from aggregation.protocol.windows import Window
from tests.aggregation.compiler.corpus import COUNTRIES, REGIONS, cases, catalog
from tests.aggregation.mechanisms.examples import mixing
from tests.aggregation.ondevice.union_query import Union

DEVICES = 10
MOMENT = datetime(2026, 11, 11, 10, tzinfo=UTC)
CATALOG = catalog()
# What a built-in step makes of a query's result is no query (test_step.py).
CORPUS = {case.name: case for case in cases("good") if "step" not in case.document}
KINDS = ["joint_clipping", "budget_split", "group_scaling", "rotated"]


@pytest.mark.parametrize("name", CORPUS)
def test_the_fleet_computes_what_the_queries_say(name: str) -> None:
    compiled = _compiled(name)
    window = Window.containing(MOMENT, compiled.client_task.window_unit)
    sizes = _largest(compiled.client_task, window)
    for kind in KINDS:
        _compare(_Fleet(compiled, window, kind, sizes), _expected(name))


def test_the_world_has_something_for_nearly_every_query() -> None:
    empty = [name for name in CORPUS if not _expected(name)]
    assert len(empty) < len(CORPUS) / 20, empty


@cache
def _compiled(name: str) -> Compiled:
    compiled = compile_spec(CORPUS[name].spec, CATALOG)
    assert isinstance(compiled, Compiled)
    return compiled


@cache
def _expected(name: str) -> dict[int, dict[str, float]]:
    """Rank → column → value, from DuckDB; cells it does not mention hold nothing."""
    case, compiled = CORPUS[name], _compiled(name)
    window = Window.containing(MOMENT, compiled.client_task.window_unit)
    found = _union(window).ask(case.spec)
    cells = Cells.of(compiled.server_config.keys, CATALOG.domain)
    rows: dict[int, dict[str, float]] = {}
    for row in found:
        rank = cells.rank([row[key.lower()] for key in cells.names])
        if rank >= 0 and row["privacy_time_unit"] == window.id:
            rows[rank] = {
                column: float(value or 0)  # type: ignore[arg-type]
                for column, value in row.items()
                if column not in (*(key.lower() for key in cells.names), "privacy_time_unit")
            }
    return rows


@cache
def _union(window: Window) -> Union:
    return Union(CATALOG, _tables(window), DEVICES)


class _Fleet:
    """All devices, the core and the decoding of one compiled task under one mechanism."""

    def __init__(self, compiled: Compiled, window: Window, kind: str, sizes: list[float]) -> None:
        self.config = compiled.server_config
        self.cells = Cells.of(self.config.keys, CATALOG.domain)
        task = msgspec.structs.replace(compiled.client_task, max_rows=1024)
        mechanism = _wide_enough(kind, task.metrics, sizes, self.cells)
        self.arithmetic = build_for(mechanism, self.cells, task.metrics)
        core = GroupBySum(_params(self.config))
        prepared = PreparedTask(msgspec.structs.replace(task, mechanism=mechanism), CATALOG)
        for device in range(DEVICES):
            assert core.accumulate(prepared.execute(_events(device), window)) is Verdict.ACCEPTED
        self.values = self.arithmetic.decode(core.report().sums)

    def rounding(self) -> np.ndarray:
        """The most that rounding to the grid can move a decoded value, per slice and metric."""
        weights = np.abs(self.arithmetic.decoding)
        per_unit = weights.sum(axis=2) if weights.ndim == 3 else weights
        return per_unit * 0.5 * DEVICES + 1e-9


def _params(config: Any) -> Params:
    return Params.of(msgspec.structs.replace(config, max_rows=1024)).without_threshold()


def _compare(fleet: _Fleet, expected: dict[int, dict[str, float]]) -> None:
    metrics = fleet.config.metrics
    slices = fleet.arithmetic.slicing.of(np.arange(fleet.cells.size))
    slack = fleet.rounding()[slices]
    for at, metric in enumerate(metrics):
        if metric not in fleet.config.hidden:
            column = np.zeros(fleet.cells.size)
            for rank, row in expected.items():
                column[rank] = row[metric.lower()]
            difference = np.abs(fleet.values[:, at] - column)
            assert (difference <= slack[:, at] + 1e-9 * np.abs(column)).all(), metric
    for derived in fleet.config.derived:
        _compare_derived(fleet, derived, expected, slack)


def _compare_derived(fleet: _Fleet, derived: Any, expected: dict, slack: np.ndarray) -> None:
    top, bottom = (fleet.config.metrics.index(m) for m in (derived.numerator, derived.denominator))
    for rank, row in expected.items():
        denominator = fleet.values[rank, bottom]
        if abs(denominator) > 4 * slack[rank, bottom]:
            ratio = derived.factor * fleet.values[rank, top] / denominator
            error = slack[rank, top] + abs(ratio / derived.factor) * slack[rank, bottom]
            allowed = 2 * abs(derived.factor) * error / abs(denominator)
            # A published ratio is not rounded, whatever the query says (a warning tells so).
            assert abs(ratio - row[derived.name.lower()]) <= allowed + 0.051, derived.name


def _wide_enough(
    kind: str, metrics: tuple[str, ...], sizes: list[float], cells: Cells
) -> Mechanism:
    """Parameters of this kind under which no device is clipped."""
    by = tuple(name for name, count in zip(cells.names, cells.counts, strict=True) if count < 50)
    by = by[:1]
    names = [str(v) for v in cells.domains[cells.names.index(by[0])]] if by else ["all"]
    scales = {
        name: {metric: size * (1 + i / 8) for metric, size in zip(metrics, sizes, strict=True)}
        for i, name in enumerate(names)
    }
    if kind == "joint_clipping":
        return JointClipping(clip=sum(sizes))
    if kind == "budget_split":
        return BudgetSplit(slice_by=by, scales=scales)
    if kind == "group_scaling":
        return GroupScaling(scale_by=by, scales=scales, clip=float(len(metrics)))
    wide = [size * len(metrics) for size in sizes]
    basis = {name: mixing(wide, tilt=1 + i / 8) for i, name in enumerate(names)}
    return Rotated(by=by, basis=basis, correction={name: (1.0,) * len(metrics) for name in names})


def _largest(task: Any, window: Window) -> list[float]:
    """Above any device's L1 per metric: measured on a coarse grid first, then on a finer one."""
    sizes = np.array([1e9])
    for _ in range(2):
        clip = float(sizes.sum())
        probe = msgspec.structs.replace(task, mechanism=JointClipping(clip=clip))
        prepared = PreparedTask(probe, CATALOG)
        parts: list[Part] = [prepared.execute(_events(d), window) for d in range(DEVICES)]
        largest = np.max([np.abs(p.values).sum(axis=0) for p in parts], axis=0)
        sizes = (largest + 64) * clip / GRID * 1.1
    return [float(size) for size in sizes]


@cache
def _world() -> dict[str, list[tuple[int, datetime, timedelta, dict[str, Any]]]]:
    """Events of all devices, some in every window unit around one moment, in quarter steps."""
    rng = random.Random(20261111)
    world: dict[str, list[tuple[int, datetime, timedelta, dict[str, Any]]]] = {}
    for stream, make in (("trips", _trip), ("assistant", _use)):
        world[stream] = [
            (device, _moment(rng), timedelta(minutes=rng.choice([-300, 0, 60, 345])), make(rng))
            for device in range(DEVICES)
            for _ in range(rng.choice([0, 3, 9, 14]))
        ]
    return world


def _moment(rng: random.Random) -> datetime:
    spread = rng.choice([3600, 3600, 3600, 86_400, 5 * 86_400, 25 * 86_400])
    return MOMENT + timedelta(seconds=rng.randrange(-spread, spread) * rng.choice([0, 1]) + 1)


def _trip(rng: random.Random) -> dict[str, Any]:
    return {
        "region": rng.choice([*REGIONS[:3], *REGIONS[:3], *REGIONS]),
        "country": rng.choice(COUNTRIES),
        "activity": rng.choice(["walking", "cycling", "driving", "bus", "flying"]),
        "direction": rng.choice(["within", "outbound", "inbound"]),
        "distance_km": rng.choice([0.25, 0.75, 2.5, 6.25, 12.0, 55.5, 240.25]),
        "duration_min": rng.choice([2.5, 7.25, 20.0, 61.75, 130.0]),
    }


def _use(rng: random.Random) -> dict[str, Any]:
    return {
        "feature": rng.choice(["summarise", "reply", "translate"]),
        "outcome": rng.choice(["accepted", "edited", "failed"]),
        "rating": rng.choice([None, 1, 3, 5]),
        "latency_ms": rng.choice([80.5, 250.0, 1200.25]),
    }


def _events(device: int) -> dict[str, list[Event]]:
    return {
        stream: [
            Event(moment.timestamp(), int(offset.total_seconds()), tuple(values.values()))
            for owner, moment, offset, values in events
            if owner == device
        ]
        for stream, events in _world().items()
    }


def _tables(window: Window) -> dict[str, list[dict[str, object]]]:
    """The window's events as rows of all devices, stamped by the calendar of Python's datetime.

    A device runs the query once per window, so that no subquery looks into another one.
    """
    return {
        stream: [
            {
                "device": device,
                **values,
                "privacy_time_unit": window.id,
                "hour_of_day": moment.astimezone(timezone(offset)).hour,
                "day_of_week": moment.astimezone(timezone(offset)).weekday(),
            }
            for device, moment, offset, values in events
            if Window.containing(moment, window.unit) == window
        ]
        for stream, events in _world().items()
    }
