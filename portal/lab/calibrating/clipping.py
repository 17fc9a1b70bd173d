"""What clipping may have taken beyond the correction: fitted with the mechanism it is of."""

from __future__ import annotations

from typing import Final

import numpy as np

from aggregation.calibration.expecting import bounded_sums
from aggregation.calibration.proxy import Proxy
from aggregation.errors import Problem
from aggregation.mechanisms import build_for
from aggregation.protocol.anonymization import ClipUncertainty, Mechanism
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.part import Floats
from aggregation.release.clip_fit import fit_clip_uncertainty

# Cells × metrics that are held at once, 8 bytes each.
_MOST_STATISTICS: Final = 30_000_000


def uncertainty_of(
    mechanism: Mechanism, task: ClientTask, proxy: Proxy, source: str
) -> ClipUncertainty | None:
    """From these devices, bounded as phones bound theirs; None where they are too few to tell."""
    if proxy.cells.size * len(proxy.metrics) > _MOST_STATISTICS:
        return None
    arithmetic = build_for(mechanism, proxy.cells, proxy.metrics)
    sums = bounded_sums(arithmetic, proxy, max_rows=task.max_rows)
    kept = arithmetic.decode_cells(proxy.seen, sums)
    try:
        return fit_clip_uncertainty(
            _dense(proxy, proxy.truth),
            _dense(proxy, kept),
            proxy.cells,
            proxy.metrics,
            count=proxy.metrics[proxy.count],
            source=source,
        )
    except Problem:
        return None


def _dense(proxy: Proxy, seen: Floats) -> Floats:
    """By every declared cell."""
    values = np.zeros((proxy.cells.size, len(proxy.metrics)))
    values[proxy.seen] = seen
    return values
