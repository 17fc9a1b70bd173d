"""The clip uncertainty of a mechanism, from proxy data: what `clipping` explains, measured.

Sums over all places are moved mostly by the chance in the proxy, which is the same in all releases
of a task: for one fit, all of them hold the truth or none does. 95 % is the rate over fits, and is
tested over many. It needs a ρ for each kind of cell. Where several kinds share one, each is left
with a bias of its own; `alike` is then the largest over all ways of adding kinds up, so that the
intervals of the other sums are wide rather than narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from math import sqrt
from statistics import NormalDist
from typing import Final

import numpy as np

from aggregation.errors import Problem
from aggregation.mechanisms.slices import Slicing
from aggregation.protocol.anonymization import ClipTerms, ClipUncertainty
from aggregation.protocol.part import Floats, Integers
from aggregation.protocol.ranks import Cells
from aggregation.release.axes import collapse
from aggregation.release.clipping import PLACES, added

# Of a cell that a fit looks at.
LEAST_EVENTS: Final = 100
_QUANTILE: Final = NormalDist().inv_cdf(0.975)


def fit_clip_uncertainty(
    true: Floats, clipped: Floats, cells: Cells, metrics: Sequence[str], *, count: str, source: str
) -> ClipUncertainty:
    """From a proxy population: true sums by cell, and the same after clipping and correction.

    Cells with few events are left out: noise drowns them, so no interval of theirs is shown. Best
    on other people than the mechanism was fitted on: those it knows lose less than others.
    """
    events = true[:, list(metrics).index(count)]
    filled = np.flatnonzero((true > 0).all(axis=1) & (events >= LEAST_EVENTS))
    if not len(filled):
        message = f"No cell of the proxy data has {LEAST_EVENTS} events."
        raise Problem(message, hint="Fit on more devices.")
    along = [n for n in cells.names if n not in PLACES]
    proxy = _Proxy(
        events=events[filled],
        kind=Slicing.by(along, cells).of(filled),
        place=Slicing.by([n for n in cells.names if n in PLACES], cells).of(filled),
        kinds=Cells(tuple(along), tuple(cells.domains[cells.names.index(n)] for n in along)),
    )
    terms = {
        metric: proxy.terms(true[filled, m], clipped[filled, m]) for m, metric in enumerate(metrics)
    }
    return ClipUncertainty(count=count, metrics=terms, source=source)


@dataclass(frozen=True, eq=False)
class _Proxy:
    """The filled cells of a proxy: their events, kinds and places."""

    events: Floats
    kind: Integers
    place: Integers
    kinds: Cells

    def terms(self, true: Floats, clipped: Floats) -> ClipTerms:
        loss = clipped - true
        of_kind = self._by_kind(true)
        share = _over(self._by_kind(loss), of_kind)
        own = (loss - share[self.kind] * true) * self._widening
        unit = true / np.sqrt(self.events)
        random = float(np.sqrt(np.mean((own / unit) ** 2)))
        together = self._together(own, random * unit)
        # By how much a kind's share is the chance of this proxy.
        chance = _over(np.full_like(share, random**2), self._by_kind(self.events))
        systematic = float(np.sqrt(np.mean((share**2 + chance)[self.kind])))
        alike = self._alike(share * of_kind, chance * of_kind**2, systematic * of_kind, together)
        return ClipTerms(
            random=_decimal(_QUANTILE * random),
            together=_decimal(together),
            systematic=_decimal(_QUANTILE * systematic),
            alike=_decimal(alike),
        )

    @property
    def _widening(self) -> float:
        """Cells lie nearer to the share of their kind than to the true one: they are in it."""
        cells = len(self.kind)
        return sqrt(cells / max(cells - len(np.unique(self.kind)), 1))

    def _together(self, own: Floats, width: Floats) -> float:
        """Solved for r: Σ_p (Σ_k own)² = (1 − r) · Σ width² + r · Σ_p (Σ_k width)²."""
        found = (np.bincount(self.place, own) ** 2).sum()
        as_one = (np.bincount(self.place, width) ** 2).sum()
        return _between((own**2).sum(), found, (width**2).sum(), as_one)

    def _alike(self, bias: Floats, chance: Floats, width: Floats, together: float) -> float:
        """Solved for r, the largest over all ways of adding kinds up: (Σ bias)² + chance of the sum
        = (1 − r) · Σ width² + r · (Σ width)²."""
        names = self.kinds.names
        ways = [by for size in range(len(names)) for by in combinations(names, size)]
        return max((self._alike_by(by, bias, chance, width, together) for by in ways), default=1.0)

    def _alike_by(
        self, by: Sequence[str], bias: Floats, chance: Floats, width: Floats, together: float
    ) -> float:
        sums = collapse(np.stack([bias, width], axis=1), self.kinds, by)
        found = sums[:, 0] ** 2 + added(chance[:, None], self.kinds, by, together=together)[:, 0]
        apart = (width**2).sum()
        return _between(apart, found.sum(), apart, (sums[:, 1] ** 2).sum())

    def _by_kind(self, values: Floats) -> Floats:
        return np.bincount(self.kind, values, minlength=self.kinds.size).astype(np.float64)


def _between(apart: float, found: float, least: float, most: float) -> float:
    """Where between nothing in common and all of it the found square lies, 0 to 1."""
    return min(max((found - apart) / (most - least), 0.0), 1.0) if most > least else 1.0


def _over(values: Floats, by: Floats) -> Floats:
    """Nothing where there is nothing."""
    return np.divide(values, by, out=np.zeros_like(by), where=by > 0)


def _decimal(value: float) -> Decimal:
    """Three digits are more than a fit knows."""
    return Decimal(f"{Decimal(f'{value:.2e}'):f}")
