"""Intervals at 95 %: the noise, exactly known, and the clip uncertainty, learnt from proxy data.

Three things are shown apart beside every value: the half-width of the noise (a public constant),
the clip correction ρ − 1 that the value already contains, and the clip uncertainty, how far
clipping may still have moved it. The two half-widths are of independent causes, so the whole is
their root of squares. Where a task has no fit of the clip uncertainty, the interval is of the
noise alone, and says so.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from aggregation.protocol.anonymization import ClipUncertainty
from aggregation.protocol.part import Floats

NOISE_ONLY: Final = (
    "The intervals cover the noise. What clipping took away is not in them: "
    "the task has no fit of it."
)


def combined(noise: Floats, clip: Floats | None) -> Floats:
    """Half-width at 95 % of a value that noise and clipping have moved independently."""
    width: Floats = noise if clip is None else np.hypot(noise, clip)
    return width


def meaning(clip: ClipUncertainty | None) -> str:
    """For whoever reads an interval: which terms it holds, and where they come from."""
    if clip is None:
        return NOISE_ONLY
    return (
        "The intervals hold two terms: the noise, which is known exactly, and what clipping may "
        "have moved, which is learnt from proxy or public data. The source of the second: "
        f"{clip.source.strip().rstrip('.')}."
    )
