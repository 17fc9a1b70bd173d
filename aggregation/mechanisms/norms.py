"""Validity of a built-in step's public numbers: every slice and metric it needs, all usable."""

from __future__ import annotations

from collections.abc import Sequence

from aggregation.mechanisms.interface import Finding
from aggregation.mechanisms.validity import (
    column_findings,
    metric_findings,
    number_findings,
    scale_findings,
)
from aggregation.protocol.ranks import Cells
from aggregation.protocol.steps import BUCKET, METRIC, Norms, SliceNorms


def problems(norms: Norms, cells: Cells, metrics: Sequence[str]) -> list[Finding]:
    """All that keeps a step from being used on a query with these cells and metrics."""
    found = column_findings("by", norms.by, cells)
    if found:
        return found
    if not isinstance(norms, SliceNorms):
        return scale_findings(norms.scales, norms.by, cells, metrics)
    return [*_clashes(norms), *_lowest_findings(norms, metrics)]


def _clashes(norms: SliceNorms) -> list[Finding]:
    """The step's own keys have names, too."""
    hint = "Give the key another name in the query."
    return [
        Finding("by", f"by names {name!r}, which is the name of one of the step's own keys.", hint)
        for name in norms.by
        if name in (METRIC, BUCKET)
    ]


def _lowest_findings(norms: SliceNorms, metrics: Sequence[str]) -> list[Finding]:
    found = list(metric_findings("lowest", norms.lowest, metrics, what="lowest edge"))
    for metric, value in norms.lowest.items():
        what = f"The lowest edge of {metric}"
        found += number_findings(f"lowest.{metric}", value, what=what)
    return found
