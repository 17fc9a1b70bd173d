"""The specs of calibration tasks: a task's own queries, then a built-in step and one device each.

Nothing of any data goes into them but, for the clip, the scales that were read from a release.
"""

import math
from decimal import Decimal
from typing import Final

import msgspec

from aggregation.compiler.compile import Refused, compile_spec
from aggregation.errors import Problem
from aggregation.mechanisms.slices import slice_count
from aggregation.protocol.anonymization import (
    BudgetSplit,
    GroupScaling,
    JointClipping,
    Rotated,
    Scales,
)
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.ranks import Cells
from aggregation.protocol.spec import AggregationPart, AnonymizationPart, PublishPart, Spec
from aggregation.protocol.steps import ScaledNorm, SliceNorms
from aggregation.protocol.streams import Catalog

# A step counts each device once.
ONE_DEVICE: Final = JointClipping(clip=1.0)
# Of the usual size of one event, the part at which the first bucket begins.
_BELOW: Final = 16
# Keys with more values make more slices than a device may send rows.
MOST_VALUES: Final = 300


def query_of(spec: Spec, catalog: Catalog) -> ClientTask:
    """What devices compute for this task, whatever its mechanism is, or what its step would be."""
    plain = _plain(spec, epsilon=Decimal(1))
    compiled = compile_spec(plain, catalog)
    if isinstance(compiled, Refused):
        reason = next(d for d in compiled.diagnostics if d.severity == "refusal")
        raise Problem(f"The queries of {spec.name} are refused: {reason.message}", hint=reason.hint)
    return compiled.client_task


def scales_spec(
    spec: Spec, catalog: Catalog, *, name: str, by: tuple[str, ...], epsilon: Decimal
) -> Spec:
    """Counts devices by slice, metric and size."""
    query = query_of(spec, catalog)
    lowest = {metric: lowest_edge(metric, spec, catalog) for metric in query.metrics}
    made = _plain(spec, epsilon=epsilon)
    slices = slice_count(by, Cells.of(query.keys, catalog.domain))
    return msgspec.structs.replace(
        made,
        name=name,
        description=f"Calibrates {spec.name}: devices by how much they have in each slice",
        step=SliceNorms(by=by, lowest=lowest),
        aggregation=_rows(spec, slices * len(query.metrics)),
    )


def clip_spec(spec: Spec, *, name: str, norms: ScaledNorm, epsilon: Decimal, source: str) -> Spec:
    """Counts devices by the size of all they have, in units of these scales."""
    return msgspec.structs.replace(
        _plain(spec, epsilon=epsilon),
        name=name,
        description=f"Calibrates {spec.name}: devices by how much they have in all. "
        f"Its scales come from {source}",
        step=norms,
        aggregation=_rows(spec, 1),
    )


def lowest_edge(metric: str, spec: Spec, catalog: Catalog) -> float:
    """Well below what one event usually has, by the stream's public description; counts have 1."""
    streams = [stream for stream in catalog if stream.name in spec.streams]
    columns = [column for s in streams if (column := s.column(metric)) is not None]
    usual = next((c.typical[0] for c in columns if c.typical and c.typical[0] > 0), 1.0)
    return float(2.0 ** math.floor(math.log2(usual / _BELOW)))


def sliceable(query: ClientTask) -> list[str]:
    return [key.name for key in query.keys if key.count <= MOST_VALUES]


def usual_slices(spec: Spec, query: ClientTask) -> tuple[str, ...]:
    """Those of the task's mechanism; else its smallest key."""
    match spec.anonymization.mechanism:
        case GroupScaling(scale_by=by) | BudgetSplit(slice_by=by) | Rotated(by=by):
            return tuple(name for name in by if name in sliceable(query))
    few = sorted((key.count, key.name) for key in query.keys if key.name in sliceable(query))
    return (few[0][1],) if few else ()


def present_scales(spec: Spec, by: tuple[str, ...]) -> Scales:
    """What the task has now for the same slices."""
    match spec.anonymization.mechanism:
        case GroupScaling(scale_by=own, scales=scales) if own == by:
            return scales
        case BudgetSplit(slice_by=own, scales=scales) if own == by:
            return scales
    return {}


def _plain(spec: Spec, *, epsilon: Decimal) -> Spec:
    return msgspec.structs.replace(
        spec,
        step=msgspec.UNSET,
        anonymization=AnonymizationPart(epsilon=epsilon, mechanism=ONE_DEVICE),
        publish=PublishPart(),
        post_processing=None,
    )


def _rows(spec: Spec, most: int) -> AggregationPart:
    return msgspec.structs.replace(spec.aggregation, max_rows=most)
