"""Joint Clipping: one L1 bound C over all cells and metrics of a device (the paper's first).

Encode u = h / C, decode h = Q · C / K.

Guarantee: ε-differential privacy for adding or removing one device's contribution to one window.
Argument: whatever h is, the integer clip leaves Σ|q| ≤ K, so the vector of integer sums has L1
sensitivity K, and discrete Laplace noise of scale K/ε on every declared coordinate suffices (see
`interface`). C is public and only sets what one grid unit is worth, C/K. In metric units this is
the Laplace mechanism of scale C/ε on vectors clipped to ‖h‖₁ ≤ C, up to rounding to the grid.

Accuracy: every coordinate gets the same noise, whatever its unit: small metrics drown.
"""

from collections.abc import Sequence

import numpy as np

from aggregation.mechanisms.interface import Arithmetic, Finding
from aggregation.mechanisms.slices import Slicing
from aggregation.mechanisms.validity import number_findings
from aggregation.protocol.anonymization import GRID, JointClipping
from aggregation.protocol.ranks import Cells


def build(mechanism: JointClipping, cells: Cells, metrics: Sequence[str]) -> Arithmetic:
    sizes = np.full((1, len(metrics)), mechanism.clip)
    return Arithmetic(
        metrics=tuple(metrics),
        slicing=Slicing.by((), cells),
        encoding=1 / sizes,
        decoding=sizes / GRID,
    )


def problems(mechanism: JointClipping, _cells: Cells, _metrics: Sequence[str]) -> list[Finding]:
    return list(number_findings("clip", mechanism.clip, what="The clip bound"))
