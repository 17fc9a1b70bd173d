"""One fit for one task: parameters from a proxy population, and how well they do."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from aggregation.calibration.expecting import bounded_sums, expected_error
from aggregation.calibration.fitting import fitted
from aggregation.calibration.proxy import Proxy, summed
from aggregation.calibration.scales import Scaled, rounded
from aggregation.calibration.weighing import Weights
from aggregation.compiler import Compiled, compile_spec
from aggregation.errors import Problem
from aggregation.mechanisms import build_for
from aggregation.mechanisms.slices import slice_count
from aggregation.ondevice.bounding import Rows
from aggregation.protocol.anonymization import Mechanism
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.ranks import Cells
from aggregation.protocol.spec import Spec
from aggregation.protocol.streams import Catalog
from aggregation.release.clipping import PLACES
from portal.collection.coarse import coarse_number
from portal.lab.calibrating.clipping import uncertainty_of
from portal.lab.calibrating.provenance import Fitted, Kind, Provenance, Quality

# Slices that a fit can have enough devices for.
_MOST_SLICES: Final = 120
# What every fit is measured beside.
_RIVAL: Final = "group_scaling_grid"
# No fit: what the task has is measured as it is.
AS_GIVEN: Final = "as given"

Watch = Callable[[float], None]


@dataclass(frozen=True)
class Data:
    """What a fit was made on, for its provenance."""

    kind: Kind
    source: str
    sha256: str
    seed: int | None
    window: str


def compiled(spec: Spec, catalog: Catalog) -> ClientTask:
    """What phones would run of this spec."""
    found = compile_spec(spec, catalog)
    if not isinstance(found, Compiled):
        first = found.diagnostics[0]
        raise Problem(
            f"The spec is refused: {first.message}",
            hint="A calibration needs a task that compiles; any parameters will do to start with.",
        )
    return found.client_task


def proxy_of(task: ClientTask, rows: Rows, catalog: Catalog) -> Proxy:
    return Proxy.of(
        Cells.of(task.keys, catalog.domain), task.metrics, rows, count=_count_metric(task)
    )


def fit_task(
    task: ClientTask,
    mine: Proxy,
    others: Proxy | None,
    *,
    name: str,
    epsilon: float,
    least_devices: int,
    data: Data,
    date: datetime,
    watch: Watch,
) -> Fitted:
    """Fitted on `mine`, measured on `others` where there are any, over cells of enough devices."""
    weights = Weights.of(mine, least_devices=least_devices)
    scaled = Scaled.of(mine, _scale_by(task, mine))
    by = sliced_by(mine.cells)
    made = {
        each: task.mechanism
        if each == AS_GIVEN
        else fitted(each, scaled, weights, epsilon=epsilon, rotate_by=by, watch=watch)
        for each in dict.fromkeys((_RIVAL, name))
    }
    tested = others or mine
    counted = Weights.of(tested, least_devices=least_devices)
    errors = {
        each: expected_error(mechanism, tested, counted, epsilon=epsilon, max_rows=task.max_rows)
        for each, mechanism in made.items()
    }
    quality = Quality(
        by_metric={metric: rounded(error) for metric, error in errors[name].by_metric.items()},
        mean=rounded(errors[name].mean),
        best_scaling=rounded(errors[_RIVAL].mean),
        on_others=others is not None,
        least_devices=least_devices,
    )
    return Fitted(
        keys=tuple((key.name, key.domain) for key in task.keys),
        metrics=task.metrics,
        mechanism=made[name],
        clip_uncertainty=uncertainty_of(made[name], task, tested, data.source),
        provenance=Provenance(
            kind=data.kind,
            source=data.source,
            data_sha256=data.sha256,
            seed=data.seed,
            date=date.isoformat(timespec="seconds"),
            devices=coarse_number(mine.devices),
            window=data.window,
            epsilon=epsilon,
            fit=name,
            quality=quality,
            per_event=per_event(made[name], Scaled.of(mine, by), max_rows=task.max_rows),
        ),
    )


def sliced_by(cells: Cells) -> tuple[str, ...]:
    """Keys that are no places, as many as leave enough devices to each slice."""
    chosen: list[str] = []
    for name in cells.names:
        if name not in PLACES and slice_count([*chosen, name], cells) <= _MOST_SLICES:
            chosen.append(name)
    return tuple(chosen)


def _scale_by(task: ClientTask, proxy: Proxy) -> Sequence[str]:
    """What the task slices by now, or all that can be."""
    now = task.mechanism
    for field in ("scale_by", "slice_by"):
        if columns := getattr(now, field, ()):
            return tuple(columns)
    return sliced_by(proxy.cells)


def _count_metric(task: ClientTask) -> str:
    """The metric that counts events; where none does, the first."""
    found = re.search(r"COUNT\(\*\) AS (\w+)", task.sql)
    return found[1] if found and found[1] in task.metrics else task.metrics[0]


def per_event(
    mechanism: Mechanism, scaled: Scaled, *, max_rows: int
) -> dict[str, dict[str, float]]:
    """Each metric per event, of slices that enough devices have to be told by themselves: as a
    release of the proxy data would tell it, after the clip and its correction, so that later
    releases are held against their like."""
    proxy, slices = scaled.proxy, len(scaled.slicing)
    arithmetic = build_for(mechanism, proxy.cells, proxy.metrics)
    sums_kept = bounded_sums(arithmetic, proxy, max_rows=max_rows)
    kept = arithmetic.decode_cells(proxy.seen, sums_kept)
    slice_of = scaled.slicing.of(proxy.seen)
    sums = [summed(slice_of, column, slices) for column in kept.T]
    found = {}
    for number, name in enumerate(scaled.slicing.names):
        events = sums[proxy.count][number]
        if events > 0 and scaled.is_known[number]:
            found[name] = {
                metric: rounded(float(total[number] / events))
                for metric, total in zip(proxy.metrics, sums, strict=True)
            }
    return found
