"""The ladder as a study: reach and the per-user mean error of each version, beside the paper's.

The paper's per-user mean error is the relative error of a partition's mean per device: what those
who answered have on average, against what all have. It is told as its increase over version 1.0.
Two things make it: those who answered are a sample, and they are not quite like the others, as a
phone whose owner travels is not idle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from aggregation.errors import Problem
from devices_sim.fleet.ladder import VERSIONS, Assumed, Marks, Version, Week, run_week
from devices_sim.fleet.ladder_fit import fitted
from devices_sim.fleet.ladder_phones import Floats, Phones, Rates, phones, wake_ups

FEWEST, MOST = 20_000, 2_000_000
# The paper's "Relative Device Reach" and "Per-User Mean Error Ablation", in percent.
PAPER_REACH: Final = {"0.1": 49.0, "0.1 idle": 76.0, "0.2": 84.0, "0.3": 89.0, "1.0": 93.0}
PAPER_ERROR: Final = {"0.2": 83.0, "0.3": 27.5}
# Devices in a partition: the fewest that the paper's evaluation counts.
_PARTITION: Final = 2000
# What is summed in each: so many metrics, each uneven in its own way.
_METRICS, _UNEVEN = 27, 0.6

Progress = Callable[[float], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class Rung:
    """One version: reach in percent, and the per-user mean error over that of 1.0 in percent."""

    version: str
    says: str
    # fitted or predicted
    kind: str
    reach: float
    paper_reach: float
    error_increase: float
    paper_error_increase: float | None
    # Of all check-ins, in percent.
    turned_away: float
    unfinished: float


@dataclass(frozen=True)
class Ladder:
    phones: int
    seed: int
    assumed: Assumed
    fitted: Rates
    rungs: tuple[Rung, ...]

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def ladder(
    count: int,
    seed: int,
    *,
    progress: Progress = lambda share: None,
    cancelled: Cancelled = lambda: False,
) -> Ladder:
    if not FEWEST <= count <= MOST:
        raise Problem(f"A ladder is studied with {FEWEST} to {MOST} phones, not {count}.")
    assumed = Assumed()
    rates, _ = fitted(assumed, seed, cancelled)
    progress(0.4)
    fleet = phones(rates, count, seed)
    moments = wake_ups(fleet, seed, mean_seconds=assumed.wake_up_seconds)
    progress(0.6)
    weeks = {}
    for place, version in enumerate(VERSIONS):
        weeks[version] = run_week(version, fleet, moments, assumed, cancelled)
        progress(0.6 + 0.3 * (place + 1) / len(VERSIONS))
    errors = _errors(fleet, {version: week.reached for version, week in weeks.items()}, seed)
    rungs = tuple(_rung(version, week, errors) for version, week in weeks.items())
    progress(1.0)
    return Ladder(count, seed, assumed, rates, rungs)


def _rung(version: Version, week: Week, errors: dict[Version, float]) -> Rung:
    name, last = version.name, errors[VERSIONS[-1]]
    return Rung(
        version=name,
        says=version.says,
        kind="fitted" if name.startswith("0.1") else "predicted",
        reach=round(100 * week.reach, 1),
        paper_reach=PAPER_REACH[name],
        error_increase=round(100 * (errors[version] / last - 1), 1),
        paper_error_increase=PAPER_ERROR.get(name),
        turned_away=round(100 * week.turned_away / max(1, week.check_ins), 1),
        unfinished=round(100 * week.unfinished / max(1, week.check_ins), 1),
    )


def _errors(fleet: Phones, reached: dict[Version, Marks], seed: int) -> dict[Version, float]:
    """The mean over partitions of the relative error of the mean per device. Each metric has
    partitions of its own, so that no few of them decide."""
    whole = len(fleet) // _PARTITION * _PARTITION
    draw = np.random.default_rng((seed, 3))
    sums = dict.fromkeys(reached, 0.0)
    for _ in range(_METRICS):
        uneven = np.exp(_UNEVEN * draw.standard_normal(whole))
        shuffled = draw.permutation(len(fleet))[:whole]
        use = (fleet.travel_hours[shuffled] * uneven).reshape(-1, _PARTITION)
        for version, marks in reached.items():
            sums[version] += _relative(use, marks[shuffled].reshape(-1, _PARTITION))
    return {version: total / _METRICS for version, total in sums.items()}


def _relative(use: Floats, answered: Marks) -> float:
    told = (use * answered).sum(axis=1) / np.maximum(1, answered.sum(axis=1))
    return float(np.abs(told / use.mean(axis=1) - 1).mean())


def lines(rungs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Rungs as plain values, predicted beside the paper's."""
    yield _line(("version", "", "reach", "paper", "error", "paper", "away", "cut off"))
    for rung in rungs:
        paper = rung["paper_error_increase"]
        figures = (
            f"{rung['reach']:.1f} %",
            f"{rung['paper_reach']:.0f} %",
            f"{rung['error_increase']:+.1f} %",
            f"{paper:+.1f} %" if paper is not None else "–",
            f"{rung['turned_away']:.0f} %",
            f"{rung['unfinished']:.0f} %",
        )
        yield _line((rung["version"], rung["kind"], *figures))


def _line(cells: tuple[str, ...]) -> str:
    return cells[0].ljust(10) + cells[1].ljust(11) + "".join(cell.rjust(9) for cell in cells[2:])
