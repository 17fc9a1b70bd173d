"""Every way parameters can be wrong has its own sentence, place and remedy."""

import math

import msgspec
import pytest

from aggregation.mechanisms import Finding, problems
from aggregation.protocol.anonymization import (
    BudgetSplit,
    GroupScaling,
    JointClipping,
    Mechanism,
    Rotated,
)
from aggregation.protocol.client_task import Key
from aggregation.protocol.domains import Domain
from tests.aggregation.mechanisms.examples import DOMAINS, KEYS, KINDS, METRICS, mechanisms

SCALED = mechanisms()["group_scaling"]
SPLIT = mechanisms()["budget_split"]
ROTATED = mechanisms()["rotated"]
assert isinstance(SCALED, GroupScaling)
assert isinstance(SPLIT, BudgetSplit)
assert isinstance(ROTATED, Rotated)
SCALES, BASIS, RHO = SCALED.scales, ROTATED.basis, ROTATED.correction


def found(mechanism: Mechanism) -> list[Finding]:
    return problems(mechanism, KEYS, METRICS, DOMAINS.__getitem__)


@pytest.mark.parametrize("kind", KINDS)
def test_it_finds_nothing_wrong_with_good_parameters(kind: str) -> None:
    assert found(mechanisms()[kind]) == []


def _without(table: dict, name: str) -> dict:
    return {key: value for key, value in table.items() if key != name}


def _scales(slice_name: str, metric: str, value: float) -> GroupScaling:
    changed = {**SCALES, slice_name: {**SCALES["driving"], metric: value}}
    return msgspec.structs.replace(SCALED, scales=changed)


def _basis(matrix: tuple) -> Rotated:
    return msgspec.structs.replace(ROTATED, basis={**BASIS, "bus/within": matrix})


def _rho(*factors: float) -> Rotated:
    return msgspec.structs.replace(ROTATED, correction={**RHO, "bus/within": factors})


BAD = {
    "zero clip": (JointClipping(clip=0.0), "clip", "positive"),
    "clip is nan": (JointClipping(clip=math.nan), "clip", "nan"),
    "clip is infinite": (JointClipping(clip=math.inf), "clip", "inf"),
    "clip too small to be meant": (JointClipping(clip=1e-200), "clip", "1e-200"),
    "group clip": (msgspec.structs.replace(SCALED, clip=-3.0), "clip", "-3.0"),
    "column is no key": (
        msgspec.structs.replace(SCALED, scale_by=("activty",)),
        "scale_by",
        "'activty'",
    ),
    "column twice": (
        msgspec.structs.replace(SPLIT, slice_by=("activity", "activity")),
        "slice_by",
        "twice",
    ),
    "slice missing": (
        msgspec.structs.replace(SCALED, scales=_without(SCALES, "driving")),
        "scales.driving",
        "nothing for the slice 'driving'",
    ),
    "slice unknown": (_scales("hovering", "num_trips", 2.0), "scales.hovering", "'hovering'"),
    "metric missing": (
        msgspec.structs.replace(SPLIT, scales={**SCALES, "bus": {"num_trips": 1.0}}),
        "scales.bus.distance_km",
        "distance_km",
    ),
    "metric unknown": (_scales("driving", "altitude", 2.0), "scales.driving.altitude", "altitude"),
    "scale zero": (_scales("driving", "num_trips", 0.0), "scales.driving.num_trips", "0.0"),
    "scale negative": (_scales("driving", "num_trips", -1.0), "scales.driving.num_trips", "-1.0"),
    "scale nan": (_scales("driving", "num_trips", math.nan), "scales.driving.num_trips", "nan"),
    "basis missing": (
        msgspec.structs.replace(ROTATED, basis=_without(BASIS, "bus/within")),
        "basis.bus/within",
        "bus/within",
    ),
    "correction missing": (
        msgspec.structs.replace(ROTATED, correction=_without(RHO, "bus/within")),
        "correction.bus/within",
        "bus/within",
    ),
    "basis not square": (_basis(((1.0, 0.0), (0.0, 1.0))), "basis.bus/within", "3 × 3"),
    "basis of two rows": (
        _basis(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))),
        "basis.bus/within",
        "3 × 3",
    ),
    "basis with a short row": (
        _basis(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 1.0))),
        "basis.bus/within",
        "3 × 3",
    ),
    "basis not finite": (
        _basis(((math.inf, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))),
        "basis.bus/within",
        "not finite",
    ),
    "basis singular": (
        _basis(((1.0, 1.0, 0.0), (1.0, 1.0, 0.0), (0.0, 0.0, 1.0))),
        "basis.bus/within",
        "condition number",
    ),
    "basis nearly singular": (
        _basis(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.9e-4))),
        "basis.bus/within",
        "condition number",
    ),
    "basis tiny": (
        _basis(((1e-20, 0.0, 0.0), (0.0, 1e-20, 0.0), (0.0, 0.0, 1e-20))),
        "basis.bus/within",
        "1e-20",
    ),
    "rho below one": (_rho(0.99, 1.0, 1.0), "correction.bus/within", "0.99"),
    "rho above two": (_rho(1.0, 2.01, 1.0), "correction.bus/within", "2.01"),
    "rho nan": (_rho(1.0, 1.0, math.nan), "correction.bus/within", "nan"),
    "rho too short": (_rho(1.0, 1.0), "correction.bus/within", "2 entries"),
}


@pytest.mark.parametrize("name", BAD)
def test_it_refuses(name: str) -> None:
    mechanism, field, words = BAD[name]
    matching = [f for f in found(mechanism) if f.field == field and words in f.message]
    assert matching, found(mechanism)
    assert all(f.hint for f in matching)


def test_it_names_the_nearest_key() -> None:
    [finding] = found(msgspec.structs.replace(SCALED, scale_by=("activty",)))
    assert finding.hint == "Did you mean 'activity'?"


def test_it_refuses_more_shares_than_the_grid_can_resolve() -> None:
    many = Domain(range(400))
    key = Key(name="n", domain=many.sha256, count=400)
    split = BudgetSplit(slice_by=("n",), scales={})
    [finding] = problems(split, (key,), METRICS, {many.sha256: many}.__getitem__)
    assert "split 1,200 ways" in finding.message


@pytest.mark.parametrize("slices", [1024, 1025])
def test_the_budget_is_split_1024_ways_at_most(slices: int) -> None:
    domain = Domain(range(slices))
    key = Key(name="n", domain=domain.sha256, count=slices)
    split = BudgetSplit(slice_by=("n",), scales={str(n): {"num_trips": 1.0} for n in range(slices)})
    findings = problems(split, (key,), ("num_trips",), {domain.sha256: domain}.__getitem__)
    assert [f.field for f in findings] == ([] if slices == 1024 else ["slice_by"])


def test_it_refuses_more_slices_than_anyone_can_fit() -> None:
    many = Domain(range(10_001))
    key = Key(name="n", domain=many.sha256, count=10_001)
    scaling = GroupScaling(scale_by=("n",), scales={}, clip=1.0)
    [finding] = problems(scaling, (key,), METRICS, {many.sha256: many}.__getitem__)
    assert "10,001 slices" in finding.message


def test_it_refuses_slices_of_one_name() -> None:
    first, second = Domain(["a", "a/b"]), Domain(["b/c", "c"])
    keys = tuple(Key(name=n, domain=d.sha256, count=2) for n, d in (("x", first), ("y", second)))
    domains = {d.sha256: d for d in (first, second)}
    scaling = GroupScaling(scale_by=("x", "y"), scales={}, clip=1.0)
    [finding] = problems(scaling, keys, METRICS, domains.__getitem__)
    assert "'a/b/c'" in finding.message


def test_it_lists_few_missing_slices_and_counts_the_rest() -> None:
    findings = found(msgspec.structs.replace(ROTATED, basis={}))
    assert len(findings) == 9
    assert findings[-1].message.startswith("19 more")
