"""Group Scaling + Joint Clipping: each (slice, metric) brought to one size, then one bound.

The paper's own mechanism ("Activity + Metric Scaling"). Encode u = h / (S(a,m) · C), decode
h = Q · S(a,m) · C / K, with S(a,m) about the 95 % quantile of a device's L1 in that slice.

Guarantee: ε-differential privacy for adding or removing one device's contribution to one window.
Argument: scaling by public positive numbers happens before the integer clip, which leaves
Σ|q| ≤ K for the whole device, all slices together; the sums have L1 sensitivity K, and discrete
Laplace noise of scale K/ε on every declared coordinate suffices (see `interface`). Undoing the
scaling after the noise is post-processing.

Accuracy: the noise of a coordinate is S(a,m)·C/ε, in proportion to what the slice is made of.
A device large in one slice is rarely large in all, so C stays small.
"""

from collections.abc import Sequence

from aggregation.mechanisms.interface import Arithmetic, Finding
from aggregation.mechanisms.slices import Slicing, scale_array
from aggregation.mechanisms.validity import column_findings, number_findings, scale_findings
from aggregation.protocol.anonymization import GRID, GroupScaling
from aggregation.protocol.ranks import Cells


def build(mechanism: GroupScaling, cells: Cells, metrics: Sequence[str]) -> Arithmetic:
    slicing = Slicing.by(mechanism.scale_by, cells)
    sizes = scale_array(mechanism.scales, slicing, metrics) * mechanism.clip
    return Arithmetic(
        metrics=tuple(metrics), slicing=slicing, encoding=1 / sizes, decoding=sizes / GRID
    )


def problems(mechanism: GroupScaling, cells: Cells, metrics: Sequence[str]) -> list[Finding]:
    found = list(number_findings("clip", mechanism.clip, what="The clip bound"))
    columns = column_findings("scale_by", mechanism.scale_by, cells)
    return (
        found
        + columns
        + ([] if columns else scale_findings(mechanism.scales, mechanism.scale_by, cells, metrics))
    )
