"""Budget Split: each (slice, metric) bounded on its own, with its share of ε (the second baseline).

With n = slices × metrics, each (slice, metric) is clipped on its own to K_n = ⌊K/n⌋ grid units,
which stand for its scale S(a,m). Encode u = h / S(a,m), decode h = Q · S(a,m) / K_n.

Guarantee: ε-differential privacy for adding or removing one device's contribution to one window.
Argument: each share has Σ|q| ≤ K_n, there are n of them and n · K_n ≤ K, so Σ|q| ≤ K over the
whole device; discrete Laplace noise of scale K/ε on every declared coordinate suffices (see
`interface`). Seen per share it is the paper's split: sensitivity K_n under noise of scale K/ε
spends ε · K_n / K ≤ ε/n, and the shares compose to at most ε.

Accuracy: a coordinate's noise is about n · S(a,m) / ε: the split is what costs.
"""

from collections.abc import Sequence

from aggregation.mechanisms.interface import Arithmetic, Finding
from aggregation.mechanisms.slices import Slicing, scale_array, slice_count
from aggregation.mechanisms.validity import column_findings, scale_findings
from aggregation.protocol.anonymization import GRID, BudgetSplit
from aggregation.protocol.ranks import Cells

# A share of 1,024 grid units still resolves a contribution to a thousandth of its scale, and is
# wider than the rounding allowance of the most rows a task may keep.
MAX_SHARES = 1024


def build(mechanism: BudgetSplit, cells: Cells, metrics: Sequence[str]) -> Arithmetic:
    slicing = Slicing.by(mechanism.slice_by, cells)
    sizes = scale_array(mechanism.scales, slicing, metrics)
    shares = sizes.size
    return Arithmetic(
        metrics=tuple(metrics),
        slicing=slicing,
        encoding=1 / sizes,
        decoding=sizes / (GRID // shares),
        shares=shares,
    )


def problems(mechanism: BudgetSplit, cells: Cells, metrics: Sequence[str]) -> list[Finding]:
    columns = column_findings("slice_by", mechanism.slice_by, cells)
    if columns:
        return columns
    shares = slice_count(mechanism.slice_by, cells) * len(metrics)
    if shares > MAX_SHARES:
        message = f"The budget would be split {shares:,} ways, more than {MAX_SHARES:,}."
        return [Finding("slice_by", message, "Slice by columns with smaller domains.")]
    return scale_findings(mechanism.scales, mechanism.slice_by, cells, metrics)
