"""How far clipping may have moved a value beyond what the correction ρ undoes.

Clipping acts before the noise, so its effect is not known from the release: it is learnt from
proxy or public data, as all parameters are (`ClipUncertainty` in the spec). Per metric:

- *random*: devices lose to the clip each on their own account, so a cell of n events is off by
  c/√n of its value.
- *together*: the cells of one device are clipped by one factor. Measured correlations between
  the cells of a place are 0.95 for trips, but 0.35 for kilometres, which differ more from trip to
  trip. So neither adding widths (as if r were 1) nor their squares (as if it were 0) is right:
  with S_k the width of the cells of kind k (activity, direction), a sum over kinds has

      width² = (1 − r) · Σ S_k² + r · (Σ S_k)².

- *systematic*: a share that no number of events makes smaller, such as the loss itself where
  nothing corrects it, or the chance in the proxy that ρ was fitted on. It holds for sums alike.

Different places are different devices: squares add. S_k of a row is taken from its sums over
places, not place by place: by Minkowski's inequality Σ_p (Σ_k S_pk)² ≤ (Σ_k √Σ_p S_pk²)², with
equality where all places have the same mix, so a sum over places is never too narrow for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import NormalDist
from typing import Final

import numpy as np

from aggregation.errors import Problem
from aggregation.mechanisms.slices import Slicing
from aggregation.protocol.anonymization import ClipTerms, ClipUncertainty
from aggregation.protocol.part import Floats, Integers
from aggregation.protocol.ranks import Cells
from aggregation.release.axes import collapse

# Keys whose values hold different devices. Along all others a device has cells side by side.
PLACES: Final = ("region", "country")
# Of a cell that a fit looks at.
LEAST_EVENTS: Final = 100
# A count this many standard deviations above nothing is no noise: of Laplace draws, one in 160,000
# is as far out.
_CLEAR: Final = 8.0
_QUANTILE: Final = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, eq=False)
class ClipLaw:
    """The terms of all metrics, in their order; half-widths at 95 %."""

    # Which metric counts events.
    count: int
    random: Floats
    together: Floats
    systematic: Floats

    @classmethod
    def of(cls, given: ClipUncertainty, metrics: Sequence[str]) -> ClipLaw:
        if {given.count, *given.metrics} != set(metrics):
            raise Problem(
                "Clip uncertainty is not of these metrics.",
                hint=f"Give its terms for {', '.join(metrics)}.",
            )
        terms = [given.metrics[metric] for metric in metrics]
        return cls(
            count=list(metrics).index(given.count),
            random=np.array([float(t.random) for t in terms]),
            together=np.array([float(t.together) for t in terms]),
            systematic=np.array([float(t.systematic) for t in terms]),
        )

    def of_cells(self, values: Floats) -> Floats:
        """Half-widths of decoded cells, from their own noised values."""
        width: Floats = np.hypot(self.random_of(values), self.systematic * values)
        return width

    def random_of(self, values: Floats) -> Floats:
        """The random part alone."""
        events = np.maximum(values[:, self.count], 1.0)
        width: Floats = np.abs(values) * (self.random / np.sqrt(events)[:, None])
        return width

    def of_sums(
        self, values: Floats, kinds: Floats, spread: Floats, cells: Cells, by: Sequence[str]
    ) -> Floats:
        """Half-widths of sums by these keys, from the values of each kind that they add up.

        `kinds` has a row for each of `cells`: these keys, and all others that are no places.
        `spread` is the standard deviation of the noise in each row's count of events.
        """
        squares = self.random_squares(kinds, spread, cells)
        random = added(squares, cells, by, together=self.together)
        return np.sqrt(random + (self.systematic * values) ** 2)

    def random_squares(self, kinds: Floats, spread: Floats, cells: Cells) -> Floats:
        """Squares of the random part, row by row: (c · mean value per event)² · events.

        The mean of a kind is taken over the rows that stand out of their noise. Over all rows it
        would not do: where most are empty, their noise alone decides the sum of events, which may
        come out as nothing at all, and the mean as anything. A kind that no row stands out in
        counts nothing: what clipping took from it is a part of what is smaller than its noise.
        """
        along = [name for name in cells.names if name not in PLACES]
        slicing = Slicing.by(along, cells)
        of = slicing.of(np.arange(cells.size))
        clear = kinds[:, self.count] >= _CLEAR * spread
        sums = [np.bincount(of[clear], m[clear], minlength=len(slicing)) for m in kinds.T]
        totals = np.stack(sums, axis=1).astype(np.float64)
        mean = np.abs(totals) / np.maximum(totals[:, self.count], 1.0)[:, None]
        events = np.maximum(kinds[:, self.count], 0.0)
        squares: Floats = (self.random * mean[of]) ** 2 * events[:, None]
        return squares


def added(squares: Floats, cells: Cells, by: Sequence[str], *, together: Floats) -> Floats:
    """Squared random widths of sums by these keys, from those of their kinds."""
    apart = collapse(squares, cells, by)
    alike = collapse(np.sqrt(squares), cells, by) ** 2
    both: Floats = (1 - together) * apart + together * alike
    return both


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
    kind = _numbered(cells, [n for n in cells.names if n not in PLACES])[filled]
    place = _numbered(cells, [n for n in cells.names if n in PLACES])[filled]
    terms = {
        metric: _terms(true[filled, m], clipped[filled, m], events[filled], kind, place)
        for m, metric in enumerate(metrics)
    }
    return ClipUncertainty(count=count, metrics=terms, source=source)


def _terms(
    true: Floats, clipped: Floats, events: Floats, kind: Integers, place: Integers
) -> ClipTerms:
    loss = clipped - true
    of_kind = np.bincount(kind, true)
    share = np.divide(
        np.bincount(kind, loss), of_kind, out=np.zeros_like(of_kind), where=of_kind > 0
    )
    own = loss - share[kind] * true
    unit = true / np.sqrt(events)
    random = np.sqrt(np.mean((own / unit) ** 2))
    width = random * unit
    # Solved for r: Σ_p (Σ_k own)² = (1 − r) · Σ width² + r · Σ_p (Σ_k width)².
    shared = (np.bincount(place, own) ** 2).sum() - (own**2).sum()
    most = (np.bincount(place, width) ** 2).sum() - (width**2).sum()
    together = min(max(shared / most, 0.0), 1.0) if most > 0 else 1.0
    # What all cells of a kind lost, and by how much that is chance.
    counted = np.bincount(kind, events)[kind]
    systematic = np.sqrt(np.mean(share[kind] ** 2 + random**2 / counted))
    return ClipTerms(
        random=_decimal(_QUANTILE * random),
        together=_decimal(together),
        systematic=_decimal(_QUANTILE * systematic),
    )


def _numbered(cells: Cells, names: Sequence[str]) -> Integers:
    return Slicing.by(names, cells).of(np.arange(cells.size))


def _decimal(value: float) -> Decimal:
    """Three digits are more than a fit knows."""
    return Decimal(f"{Decimal(f'{value:.2e}'):f}")
