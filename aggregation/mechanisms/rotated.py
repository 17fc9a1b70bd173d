"""Rotated Laplace + ρ: the metrics of a cell mixed by a public matrix before one joint bound.

Trips, kilometres and minutes of one cell go together, so scaling each alone charges a heavy
traveller three times. Per slice a public m×m matrix E takes the cell's metrics to nearly
independent ones, roughly {trips, km − α·trips, min − β·trips − γ·km}. Encode u = E h, decode
h = ρ ∘ (E⁻¹ Q/K), where the public factor ρ ≥ 1 undoes the average loss to clipping.

Guarantee: ε-differential privacy for adding or removing one device's contribution to one window.
Argument: E acts on one device's own rows before the integer clip, and for any E whatsoever the
clip leaves Σ|q| ≤ K over the whole device; the sums have L1 sensitivity K, and discrete Laplace
noise of scale K/ε on every declared coordinate suffices (see `interface`). E⁻¹ and ρ are applied
to noised sums only: post-processing. E and ρ come from proxy or public data, as the paper's own
scales do; a bad E costs accuracy, never privacy.

Validity: E finite with condition number at most 1e4, so that E⁻¹ neither loses digits nor blows
the noise up; ρ in [1, 2], since a correction beyond that would be guessing.

Accuracy: a metric's noise is the linear combination ρ_m Σ_j (E⁻¹)_mj Z_j / K; `noise_law` has its
law. E and ρ are fitted together, for one ε.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from aggregation.mechanisms.interface import Arithmetic, Finding
from aggregation.mechanisms.slices import Slicing
from aggregation.mechanisms.validity import SMALLEST, column_findings, slice_findings
from aggregation.protocol.anonymization import GRID, Rotated
from aggregation.protocol.ranks import Cells

MAX_CONDITION = 1e4
MIN_CORRECTION, MAX_CORRECTION = 1.0, 2.0


def build(mechanism: Rotated, cells: Cells, metrics: Sequence[str]) -> Arithmetic:
    slicing = Slicing.by(mechanism.by, cells)
    basis = np.array([mechanism.basis[name] for name in slicing.names])
    correction = np.array([mechanism.correction[name] for name in slicing.names])
    return Arithmetic(
        metrics=tuple(metrics),
        slicing=slicing,
        encoding=basis,
        decoding=correction[:, :, None] * np.linalg.inv(basis) / GRID,
    )


def problems(mechanism: Rotated, cells: Cells, metrics: Sequence[str]) -> list[Finding]:
    found = column_findings("by", mechanism.by, cells)
    if found:
        return found
    found += slice_findings("basis", mechanism.basis, mechanism.by, cells)
    found += slice_findings("correction", mechanism.correction, mechanism.by, cells)
    for name, matrix in mechanism.basis.items():
        found += _basis_findings(name, matrix, len(metrics))
    for name, factors in mechanism.correction.items():
        found += _correction_findings(name, factors, len(metrics))
    return found


def _basis_findings(
    name: str, matrix: tuple[tuple[float, ...], ...], size: int
) -> Iterator[Finding]:
    field = f"basis.{name}"
    if len(matrix) != size or any(len(row) != size for row in matrix):
        message = f"The basis of {name!r} is not {size} × {size}."
        yield Finding(field, message, "Give one row and one column per metric, in their order.")
        return
    array = np.array(matrix, dtype=np.float64)
    if not np.isfinite(array).all():
        yield Finding(field, f"The basis of {name!r} holds a number that is not finite.", _REFIT)
        return
    if not SMALLEST <= np.abs(array).max() <= 1 / SMALLEST:
        message = f"The largest number in the basis of {name!r} is {np.abs(array).max():g}."
        yield Finding(field, message, f"It must lie in {SMALLEST:g} to {1 / SMALLEST:g}.")
        return
    condition = float(np.linalg.cond(array))
    if not condition <= MAX_CONDITION:
        message = f"The basis of {name!r} has condition number {condition:.3g}, above 10,000."
        yield Finding(field, message, "Decoding it would blow the noise up. " + _REFIT)


def _correction_findings(name: str, factors: tuple[float, ...], size: int) -> Iterator[Finding]:
    field = f"correction.{name}"
    if len(factors) != size:
        message = f"The correction of {name!r} has {len(factors)} entries for {size} metrics."
        yield Finding(field, message, "Give one per metric, in their order.")
    for factor in factors:
        if not MIN_CORRECTION <= factor <= MAX_CORRECTION:
            message = f"A correction of {name!r} is {factor}, outside 1 to 2."
            yield Finding(field, message, _REFIT)


_REFIT = "Fit it again."
